package postgres

import (
	"fmt"
	"strconv"
	"strings"
)

// row is a row that a statement yields. What cannot be read as what is asked for
// is an error of the statement.
type row struct {
	values [][]byte // texts; nil for NULL
	err    error
}

func (r *row) text(i int) string { return unescape(string(r.values[i])) }

func (r *row) truth(i int) bool { return string(r.values[i]) == "t" }

func (r *row) number(i int) int64 {
	n, err := strconv.ParseInt(string(r.values[i]), 10, 64)
	r.fail(i, err)
	return n
}

func (r *row) float(i int) float64 {
	f, err := strconv.ParseFloat(string(r.values[i]), 64)
	r.fail(i, err)
	return f
}

func (r *row) fail(i int, err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("column %d: %w", i, err)
	}
}

// args are the arguments of a statement: strings, numbers, lists of both, and
// nil for NULL.
type args []any

// encoded writes arguments as the server reads them.
func (a args) encoded() [][]byte {
	texts := make([][]byte, len(a))
	for i, v := range a {
		switch v := v.(type) {
		case nil:
		case string:
			texts[i] = []byte(escape(v))
		case int:
			texts[i] = strconv.AppendInt(nil, int64(v), 10)
		case int64:
			texts[i] = strconv.AppendInt(nil, v, 10)
		case float64:
			texts[i] = strconv.AppendFloat(nil, v, 'g', -1, 64)
		case []string:
			texts[i] = array(v)
		case []int64:
			texts[i] = numbers(v)
		default:
			panic(fmt.Sprintf("postgres: an argument of type %T", v))
		}
	}
	return texts
}

// array writes a list of strings as an array.
func array(list []string) []byte {
	quote := strings.NewReplacer(`"`, `\"`, `\`, `\\`)
	text := []byte{'{'}
	for i, s := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '"')
		text = append(text, quote.Replace(escape(s))...)
		text = append(text, '"')
	}
	return append(text, '}')
}

// numbers writes a list of numbers as an array.
func numbers(list []int64) []byte {
	text := []byte{'{'}
	for i, n := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return append(text, '}')
}
