// Command etcd is the etcd server, built from the same module versions as the API server that talks to it.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
