//go:build tools

// Names the program of LeaderWorkerSet that the models ring runs, so that go.sum covers all that it is built from.
package tools

import _ "sigs.k8s.io/lws/cmd"
