#!/usr/bin/env python3
"""The tests of this client that are no conformance scenarios: checks.py units | models

    units    Maven builds all modules with all warnings as errors, and runs their unit tests
    models   the classes of options and answers are what generate.py makes of the server's description

Exit code 77: there is no JDK, no Maven, or what it needs was not fetched.
"""

import contextlib
import fcntl
import os
import subprocess
import sys

import build

WITHIN_S = 600


def run(*words, cwd=build.HERE):
    """The exit code and what the program printed."""
    done = subprocess.run([*map(str, words)], text=True, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WITHIN_S, check=False,
                          env=dict(os.environ, DUEWHEEL_STORE_SEGMENT_SIZE="4MiB"))
    return done.returncode, done.stdout


@contextlib.contextmanager
def alone():
    """Maven builds into folders that all tests share."""
    with open(build.PLACE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def units():
    with alone():
        return run(*build.maven("install"))


def models():
    return run(sys.executable, build.HERE / "generate.py")


CHECKS = {"units": units, "models": models}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        sys.stderr.write(__doc__)
        return 2
    if sys.argv[1] != "models" and build.missing():
        print(f"skipped: {build.missing()}")
        return build.SKIPPED
    code, said = CHECKS[sys.argv[1]]()
    if code:
        print(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
