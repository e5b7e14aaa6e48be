#!/bin/sh
# Runs one file of tests in Chromium: run.sh NAME.test.mjs. Without node, chromium or the packages in build/web, the test
# is skipped, and says what is missing.
here=$(cd "$(dirname "$0")" && pwd)
skip() {
    echo "skipped: $1"
    exit 77
}
command -v node >/dev/null || skip "node is not installed (Debian: nodejs)"
DUEWHEEL_CHROMIUM=$(command -v chromium) || skip "chromium is not installed (Debian: chromium)"
[ -d "$here/../../build/web/node_modules/playwright-core" ] || skip "playwright-core is not in build/web: run ./dev packages"
export DUEWHEEL_CHROMIUM
exec node --test --test-reporter=spec "$here/$1"
