# What `prepare` and `test` set: everything that Go writes stays under .build, and nothing comes from the network.
# Sourced with `root` set to the repository's folder.
# shellcheck shell=sh disable=SC2154
export GOCACHE="$root/.build/clients/go/cache" GOPATH="$root/.build/clients/go/path" GOENV=off GOPROXY=off GOFLAGS=
export GOTOOLCHAIN=local GO111MODULE=on GOWORK=off GOTELEMETRY=off
