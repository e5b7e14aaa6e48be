#!/bin/sh
# Builds the adapter of the Go client, unless its program is newer than the sources, and becomes it. Exit code 77: there is no Go that can.
folder=../../../../build/go
program="$folder/conformance"
if ! command -v go >/dev/null; then echo "the adapter go needs go" >&2; exit 77; fi
if [ ! -x "$program" ] || [ -n "$(find . ../../../go -name '*.go' -newer "$program")" ]; then
  mkdir -p "$folder" && GOCACHE="$(cd "$folder" && pwd)/cache" GOFLAGS=-p=1 GOTOOLCHAIN=local go build -o "$program.$$" . >&2 ||
    { go version | grep -q 'go1\.\([0-9]\|1[0-9]\|2[01]\)\b' && exit 77; exit 1; }
  mv -f "$program.$$" "$program"  # another adapter may run the old one
fi
exec "$program"
