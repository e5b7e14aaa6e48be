#!/bin/sh
# Becomes the adapter of the C++ client, which the project's build makes. Exit code 77: it was not built.
program="${DUEWHEEL_CLIENT_BIN:-$DUEWHEEL_BIN}/duewheel_cpp_adapter"
if [ ! -x "$program" ]; then echo "there is no $program: run ./dev build test duewheel_cpp_adapter" >&2; exit 77; fi
exec "$program"
