# What `prepare` and `test` set: everything that Go writes stays in the build folder, and nothing comes from the network.
# Sourced with `root` set to the repository's folder.
# shellcheck shell=sh disable=SC2154
built=${BUILD:-$root/.build}/clients/go
export GOCACHE="$built/cache" GOPATH="$built/path" GOENV=off GOPROXY=off GOFLAGS=
export GOTOOLCHAIN=local GO111MODULE=on GOWORK=off GOTELEMETRY=off
