package wire

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
)

// ExtraNames returns the names of the profile's extra members in a fixed order.
func ExtraNames(p *model.Profile) []string { return slices.Sorted(maps.Keys(p.Extra)) }

// CheckExtra refuses extra members that are no JSON or are named in reserved,
// as the engine itself sends those. An empty member stands for one to be left
// out.
func CheckExtra(p *model.Profile, reserved ...string) error {
	for _, name := range ExtraNames(p) {
		if slices.Contains(reserved, name) {
			return fmt.Errorf("extra member %q of the profile: the engine itself sends this one", name)
		}
		if value := p.Extra[name]; value != "" && !jsontext.Value(value).IsValid(lenient) {
			return fmt.Errorf("extra member %q of the profile is not JSON", name)
		}
	}
	return nil
}
