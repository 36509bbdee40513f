package mcp

import (
	"fmt"
	"iter"
	"strings"
	"sync"
)

// harmless are the variables that every program gets.
var harmless = map[string]bool{
	"PATH": true, "HOME": true, "LANG": true, "LANGUAGE": true, "USER": true, "LOGNAME": true, "SHELL": true,
	"TMPDIR": true, "TEMP": true, "TMP": true, "TZ": true,
	// What programs need on Windows.
	"SYSTEMROOT": true, "SYSTEMDRIVE": true, "COMSPEC": true, "PATHEXT": true, "USERPROFILE": true, "APPDATA": true,
	"LOCALAPPDATA": true, "PROGRAMFILES": true,
}

// environ is the environment of a program: the harmless variables of base and
// its own.
func environ(base, own []string) []string {
	env := []string{}
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if name = strings.ToUpper(name); harmless[name] || strings.HasPrefix(name, "LC_") {
			env = append(env, entry)
		}
	}
	return append(env, own...)
}

// maxListed bounds what a server may list, against one that never ends.
const maxListed = 2000

// gather takes a listing into a slice.
func gather[T any](all iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for item, err := range all {
		if err != nil {
			return list, err
		}
		if len(list) == maxListed {
			return list, fmt.Errorf("there are more than %d", maxListed)
		}
		list = append(list, item)
	}
	return list, nil
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (l *lastBytes) Write(p []byte) (int, error) {
	const limit = 1000
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p[max(0, len(p)-limit):]...)
	l.kept = l.kept[max(0, len(l.kept)-limit):]
	return len(p), nil
}

func (l *lastBytes) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(l.kept), "")), " ")
}
