// The registry of the OCI distribution project with only what tests need: blobs in memory, users by password or token.
package main

import (
	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/auth/token"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"
)

func main() { _ = registry.RootCmd.Execute() }
