package modeltest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

func ExampleStart() {
	scripts, err := modeltest.Parse("greeting", `
		reply
		  text Hello to you.
		  usage input=9 output=4
		`)
	if err != nil {
		panic(err)
	}
	srv, err := modeltest.Start(modeltest.Options{Scripts: scripts})
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	resp, err := http.Post(srv.BaseURL(model.ChatCompletions)+"/chat/completions", "application/json",
		strings.NewReader(`{"model":"any","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	reply, _ := io.ReadAll(resp.Body)
	fmt.Println(strings.Contains(string(reply), "Hello to you."))
	fmt.Println(srv.Requests()[0].LastUser(), srv.Faults())
	// Output:
	// true
	// hello []
}
