// Prints the hash that Karpenter's own code gives each NodePool template on standard input (a JSON list of templates).
package main

import (
	"encoding/json"
	"os"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

type vector struct {
	Template json.RawMessage `json:"template"`
	Hash     string          `json:"hash"`
}

type result struct {
	Version string   `json:"version"`
	Vectors []vector `json:"vectors"`
}

func main() {
	var templates []json.RawMessage
	must(json.NewDecoder(os.Stdin).Decode(&templates))
	out := result{Version: v1.NodePoolHashVersion}
	for _, raw := range templates {
		pool := v1.NodePool{}
		must(json.Unmarshal(raw, &pool.Spec.Template))
		out.Vectors = append(out.Vectors, vector{Template: raw, Hash: pool.Hash()})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	must(encoder.Encode(out))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
