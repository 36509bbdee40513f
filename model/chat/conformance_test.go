package chat

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest/conformance"
	"github.com/rondo-engine/rondo/model/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	conformance.Run(t, model.ChatCompletions, func(p *model.Profile, client *http.Client) model.Model {
		return New(p, wire.Options{HTTP: client, Keys: model.StaticKey(conformance.Key)})
	})
}
