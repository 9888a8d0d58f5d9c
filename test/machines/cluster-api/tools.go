//go:build tools

// Names the program of Cluster API that the machines ring runs, so that go.sum covers all that it is built from.
package tools

import _ "sigs.k8s.io/cluster-api/core"
