package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/internal/mask"
)

// field is a key of a struct.
type field struct {
	name string
	tag  reflect.StructTag
	at   []int // the index for reflect's FieldByIndex
}

// fieldsOf lists the keys of a struct, those of inlined structs among them.
func fieldsOf(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option != "inline" {
			all = append(all, field{name, f.Tag, f.Index})
			continue
		}
		for _, in := range fieldsOf(f.Type) {
			all = append(all, field{in.name, in.tag, append(slices.Clone(f.Index), in.at...)})
		}
	}
	return all
}

var durationType = reflect.TypeFor[time.Duration]()

// parse sets the scalar or list v to what text says, within the limits of tag.
func parse(v reflect.Value, tag reflect.StructTag, text string) error {
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		if err := parse(p.Elem(), tag, text); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	switch {
	case v.Type() == durationType:
		d, err := parseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is no duration: write it as in 90s, 10m or 1h30m", text)
		}
		v.SetInt(int64(d))
		return inRange(tag, float64(d), text)
	case v.CanInt():
		n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		v.SetInt(n)
		return inRange(tag, float64(n), text)
	case v.CanFloat():
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is no number", text)
		}
		v.SetFloat(f)
		return inRange(tag, f, text)
	case v.Kind() == reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(text == "true")
	case v.Kind() == reflect.String:
		v.SetString(text)
		return oneOf(tag, text)
	case v.Type() == reflect.TypeFor[[]string]():
		var list []string
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		v.Set(reflect.ValueOf(list))
	default:
		return fmt.Errorf("it holds other keys and has no value of its own: set one of them, or edit the file")
	}
	return nil
}

// parseDuration is time.ParseDuration that also takes a number of days, as in 90d.
func parseDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * day, nil
		}
	}
	return time.ParseDuration(text)
}

func oneOf(tag reflect.StructTag, text string) error {
	allowed := strings.Fields(tag.Get("oneof"))
	if len(allowed) == 0 || text == "" || slices.Contains(allowed, text) {
		return nil
	}
	return fmt.Errorf("%q is none of %s%s", text, strings.Join(allowed, ", "), didYouMean(text, allowed))
}

func inRange(tag reflect.StructTag, n float64, text string) error {
	if low := tag.Get("min"); low != "" {
		if l, _ := strconv.ParseFloat(low, 64); n < l {
			return fmt.Errorf("%s is too small: it must be at least %s", text, low)
		}
	}
	if high := tag.Get("max"); high != "" {
		if h, _ := strconv.ParseFloat(high, 64); n > h {
			return fmt.Errorf("%s is too large: it must be at most %s", text, high)
		}
	}
	return nil
}

// set finds the key that path names below v and sets it to what text says. It
// returns the names on the way; those of maps may hold dots.
func set(v reflect.Value, tag reflect.StructTag, path, text string) ([]string, error) {
	switch {
	case path == "":
		return nil, parse(v, tag, text)
	case v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct:
		p := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			p.Elem().Set(v.Elem())
		}
		names, err := set(p.Elem(), tag, path, text)
		if err == nil {
			v.Set(p)
		}
		return names, err
	case v.Kind() == reflect.Struct:
		return setField(v, path, text)
	case v.Kind() == reflect.Map:
		return setEntry(v, tag, path, text)
	}
	return nil, fmt.Errorf("there is no key %q here", path)
}

func setField(v reflect.Value, path, text string) ([]string, error) {
	for _, f := range fieldsOf(v.Type()) {
		rest, ok := strings.CutPrefix(path+".", f.name+".")
		if !ok {
			continue
		}
		names, err := set(v.FieldByIndex(f.at), f.tag, strings.TrimSuffix(rest, "."), text)
		return append([]string{f.name}, names...), err
	}
	name, _, _ := strings.Cut(path, ".")
	return nil, unknownKey(name, v.Type())
}

// setEntry tries each dot in path as the end of the entry's name.
func setEntry(v reflect.Value, tag reflect.StructTag, path, text string) ([]string, error) {
	err := fmt.Errorf("%q is the name of an entry: say which key of it, as in %s.KEY", path, path)
	for i := len(path); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		elem := reflect.New(v.Type().Elem()).Elem()
		name := path[:i]
		if old := v.MapIndex(reflect.ValueOf(name)); old.IsValid() {
			elem.Set(old)
		}
		rest := strings.TrimPrefix(path[i:], ".")
		if rest == "" && elem.Kind() == reflect.Struct {
			continue
		}
		names, setErr := set(elem, tag, rest, text)
		if setErr != nil {
			err = setErr
			continue
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(name), elem)
		return append([]string{name}, names...), nil
	}
	return nil, err
}

// Value is a setting as it holds.
type Value struct {
	// Path is its name, such as agent.max_turns.
	Path string
	// Text is its value; of a secret only the end.
	Text string
	// Source is where it comes from, such as default, RONDO_MODEL or a file
	// and line.
	Source string
}

// visit calls yield for each scalar, list of scalars and pointer that is set
// below v, in the order of the struct.
func visit(v reflect.Value, tag reflect.StructTag, path []string, yield func(path []string, v reflect.Value, tag reflect.StructTag)) {
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), tag, path, yield)
		}
	case v.Kind() == reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			visit(v.FieldByIndex(f.at), f.tag, append(slices.Clip(path), f.name), yield)
		}
	case v.Kind() == reflect.Map:
		keys := slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			visit(v.MapIndex(k), tag, append(slices.Clip(path), k.String()), yield)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			visit(v.Index(i), tag, append(slices.Clip(path), strconv.Itoa(i)), yield)
		}
	default:
		yield(path, v, tag)
	}
}

// text writes a scalar or a list of them as parse reads it.
func text(v reflect.Value, tag reflect.StructTag) string {
	if v.Kind() == reflect.Slice {
		return strings.Join(v.Interface().([]string), ", ")
	}
	s := fmt.Sprint(v.Interface())
	switch tag.Get("secret") {
	case "":
		return s
	case "url":
		return mask.URL(s)
	}
	return Mask(s)
}

// Mask hides a secret but for its end, by which its owner knows it.
func Mask(secret string) string {
	switch {
	case secret == "":
		return ""
	case len(secret) < 16:
		return "****"
	}
	return "****" + secret[len(secret)-4:]
}

// allPaths lists the names of all keys below a struct; * stands for the names
// of entries.
func allPaths(t reflect.Type, prefix string) []string {
	var all []string
	for _, f := range fieldsOf(t) {
		ft := t.FieldByIndex(f.at).Type
		path := prefix + f.name
		for ft.Kind() == reflect.Map || ft.Kind() == reflect.Pointer {
			if ft.Kind() == reflect.Map {
				path += ".*"
			}
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct {
			all = append(all, allPaths(ft, path+".")...)
		} else {
			all = append(all, path)
		}
	}
	return all
}

// cloneMaps copies the maps of c, so that layers laid over it leave the
// original alone.
func (c *Config) cloneMaps() {
	c.Auxiliary, c.Providers, c.Models = maps.Clone(c.Auxiliary), maps.Clone(c.Providers), maps.Clone(c.Models)
}
