package store_test

import (
	"testing"

	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Suite(t, func(*testing.T) store.Store { return store.NewMemory() })
}
