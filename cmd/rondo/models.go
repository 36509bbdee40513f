package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/provider"
)

func newModelsCommand(env *environment) *cobra.Command {
	all, asJSON := false, false
	c := &cobra.Command{
		Use:   "models [FILTER...]",
		Short: "List the models that the catalogue knows",
		Long: `List models with context window and usual output limit in tokens, abilities, and
prices in US dollars for a million tokens. Each word of the filter must occur in
PROVIDER/NAME. Other models can be used too: name them with --model.`,
		Example: `  rondo models anthropic
  rondo models openrouter qwen coder`,
		RunE: func(_ *cobra.Command, args []string) error {
			cards := findModels(args, all)
			if len(cards) == 0 {
				return usagef("no model of the catalogue fits %q: try a shorter filter, or --all for providers that rondo does not know by name", strings.Join(args, " "))
			}
			if asJSON {
				return printCardsJSON(env, cards)
			}
			printCards(env, cards)
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also of providers that rondo does not know by name")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return c
}

// findModels returns the models with all words in their names, under the names
// that --model takes.
func findModels(words []string, all bool) []provider.Card {
	owners := map[string]string{}
	for _, k := range provider.All() {
		section := k.Name
		if k.Catalogue != nil {
			section = strings.TrimSuffix(k.Catalogue[0], "/")
		}
		if _, taken := owners[section]; !taken && !strings.Contains(section, "/") {
			owners[section] = k.Name
		}
	}
	var found []provider.Card
	for c := range provider.Cards() {
		owner, known := owners[c.Provider]
		if known {
			c.Provider = owner
		}
		name := strings.ToLower(c.Provider + "/" + c.Model)
		missing := slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(name, strings.ToLower(w)) })
		if (known || all) && !missing {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b provider.Card) int { return cmp.Compare(a.Provider, b.Provider) })
	return found
}

func printCards(env *environment, cards []provider.Card) {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "window\toutput\t$ in\t$ out\tabilities\t  model")
	for _, c := range cards {
		in, out := "-", "-"
		if c.Price != nil {
			in, out = dollars(c.Price.Input), dollars(c.Price.Output)
		}
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t  %s/%s\n", c.ContextWindow, c.MaxOutput, in, out, abilities(c), c.Provider, c.Model)
	}
	w.Flush()
}

func dollars(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func abilities(c provider.Card) string {
	var list []string
	if c.Reasoning {
		list = append(list, "reasoning")
	}
	if c.Vision {
		list = append(list, "vision")
	}
	return cmp.Or(strings.Join(list, ","), "-")
}

func printCardsJSON(env *environment, cards []provider.Card) error {
	for _, c := range cards {
		line := struct {
			Model         string       `json:"model"`
			ContextWindow int          `json:"context_window"`
			MaxOutput     int          `json:"max_output_tokens"`
			Reasoning     bool         `json:"reasoning"`
			Vision        bool         `json:"vision"`
			Price         *model.Price `json:"usd_per_million_tokens"`
		}{c.Provider + "/" + c.Model, c.ContextWindow, c.MaxOutput, c.Reasoning, c.Vision, c.Price}
		if err := env.printJSON(line); err != nil {
			return err
		}
	}
	return nil
}
