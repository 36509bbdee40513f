package gemini_test

import (
	"net/http"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/gemini"
	"github.com/rondo-engine/rondo/model/modeltest/conformance"
	"github.com/rondo-engine/rondo/model/wire"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, model.GeminiGenerate, func(p *model.Profile, client *http.Client) model.Model {
		return gemini.New(p, wire.Options{HTTP: client, Keys: model.StaticKey(conformance.Key)})
	})
}
