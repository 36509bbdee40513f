package sqlite_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
)

// A repair copies the rows of tables that it knows by their fields. Whoever adds
// a table, or a column that is not made anew, teaches it (salvage.go) and names
// it here.
func TestRepairKnowsAllTables(t *testing.T) {
	path := file(t)
	open(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT m.name, group_concat(c.name, ' ') FROM sqlite_schema m
		JOIN pragma_table_info(m.name) c WHERE m.type = 'table' GROUP BY m.name ORDER BY m.name`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		var name, columns string
		if err := rows.Scan(&name, &columns); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "message_text") && !strings.HasPrefix(name, "sqlite_") {
			got = append(got, name+": "+columns)
		}
	}
	want := []string{
		"effects: session message place call tool args_digest started_ns finished_ns status",
		"messages: key id role body",
		"notes: session n time_ns kind body",
		"prompts: n system",
		"repairs: session n body",
		"sessions: n id title parent relation workspace provider model created_ns updated_ns messages calls input_tokens" +
			" cache_read_tokens cache_write_tokens output_tokens reasoning_tokens cost_usd end_reason indexed",
		"unindexed: key",
	}
	if err := rows.Err(); err != nil || !slices.Equal(got, want) {
		t.Errorf("the tables are\n%s\n%v", strings.Join(got, "\n"), err)
	}
}
