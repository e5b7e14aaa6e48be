#!/usr/bin/env python3
"""The tests of this client that are no conformance scenarios: checks.py units | workers | types | models | package | celery

    units    the unit tests in tests/, with no server
    workers  tests/server, on a real server
    types    mypy --strict
    models   src/duewheel/models.py is what generate.py makes of the server's description
    package  the wheel is built and installed into an empty folder, and runs all examples of README.md on a real server
    celery   Celery itself with the transport and the result backend, on a real server

They run with the Python of DUEWHEEL_CLIENT_PYTHON, which has the packages of tests/integration/requirements.txt. Exit code 77: it lacks some.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = os.environ.get("DUEWHEEL_CLIENT_PYTHON", sys.executable)
NEEDED = {"units": ["httpx"], "workers": ["httpx"], "types": ["mypy", "httpx", "celery"], "models": [], "package": ["httpx", "setuptools", "pytest", "celery"], "celery": ["httpx", "celery"]}
SKIPPED = 77
# What the examples of README.md print, among other things.
PRINTED = ("cancelled", "already_cancelled", "done {'sent_to': 'ben'}", "['ready', 'ready']", "cleo got it", "the same page")


def run(*words, path, **options):
    """The exit code and what the program printed."""
    done = subprocess.run([PYTHON, *map(str, words)], env=dict(os.environ, PYTHONPATH=str(path), PYTHONDONTWRITEBYTECODE="1"), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240, check=False, **options)
    return done.returncode, done.stdout


def units():
    return run("-m", "unittest", "discover", "-s", HERE / "tests", "-p", "*_test.py", path=HERE / "src")


def types():
    with tempfile.TemporaryDirectory() as cache:
        return run("-m", "mypy", "--cache-dir", cache, path="", cwd=HERE)


def workers():
    return run("-W", "ignore", "-m", "unittest", "discover", "-s", HERE / "tests" / "server", "-p", "*_check.py", path=HERE / "src")


def celery():
    return run(HERE / "tests" / "celery" / "celery_check.py", path=HERE / "src")


def models():
    return run(HERE / "generate.py", path="")


def package():
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        shutil.copytree(HERE, place / "source")  # a build writes into its folder
        code, said = run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
                         "--target", place / "site", place / "source", path="")
        return (code, said) if code else examples(place)


def examples(place):
    """The examples from top to bottom are one program; those that are tests of pytest run by themselves, and those with a file's name in the
    first line are this file. What the schedule creates is on another queue than what the last example waits for, so the program waits for it
    before it stops the worker: now and then it stopped first."""
    blocks = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    tests = [block for block in blocks if "def test_" in block]
    files = [block for block in blocks if block not in tests and re.match(r"# \w+\.py\n", block)]
    for block in files:
        module = re.match(r"# (\w+)\.py", block)[1]
        (place / f"{module}.py").write_text(block)
        code, said = run("-c", f"import {module}", path=place / "site", cwd=place)
        if code:
            return code, said
    (place / "example_test.py").write_text("\n".join(tests))
    (place / "program.py").write_text(
        "import duewheel.testing\nwith duewheel.testing.Server() as server:\n" +
        "\n".join(f"    {line}".rstrip() for block in blocks if block not in tests + files for line in block.splitlines())
        .replace('"http://127.0.0.1:7420"', "server.url").replace("    worker.stop()", "    server.run_until_idle('reminders')\n    worker.stop()"))
    code, said = run("program.py", path=place / "site", cwd=place)
    missing = [text for text in PRINTED if text not in said]
    if code or missing:
        return code or 1, f"{said}\nexit code {code}; not printed: {missing}"
    code, said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "example_test.py", path=place / "site", cwd=place)
    if code:
        return code, said
    return run("-m", "duewheel.run_worker", "--help", path=place / "site", cwd=place)


def main():
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in NEEDED:
        sys.stderr.write(__doc__)
        return 2
    for module in NEEDED[name]:
        if subprocess.run([PYTHON, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode:
            print(f"skipped: {PYTHON} has no {module}")
            return SKIPPED
    code, said = {"units": units, "workers": workers, "types": types, "models": models, "package": package, "celery": celery}[name]()
    if code:
        print(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
