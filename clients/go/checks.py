#!/usr/bin/env python3
"""The tests of this client that are no conformance scenarios: checks.py units | models | readme | otel

    units    go vet, gofmt, and the tests beside the sources, with a real server
    models   models.go is what generate.py makes of the server's description
    readme   an empty project that uses the module runs all examples of README.md on a real server
    otel     the tests of the module duewheelotel, with the SDK of OpenTelemetry and a real server

Exit code 77: there is no Go that is new enough, or the modules of OpenTelemetry are not in build/go.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OLDEST = (1, 22)
SKIPPED = 77
WITHIN_S = 600
# What the examples of README.md print, among other things.
PRINTED = ("scheduled", "cancelled\n", "true already_cancelled", 'done {"To":"ben"}', "ready <nil>\nready <nil>", "done <nil>")


def run(*words, cwd):
    """The exit code and what the program printed."""
    environment = dict(os.environ, GOCACHE=str(ROOT / "build" / "go" / "cache"), GOMODCACHE=str(ROOT / "build" / "go" / "modules"),
                       GOFLAGS="-mod=mod -modcacherw", GOPROXY="off", GOTOOLCHAIN="local")
    done = subprocess.run([*map(str, words)], env=environment, text=True, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=WITHIN_S, check=False)
    return done.returncode, done.stdout


def units():
    code, said = run("gofmt", "-l", ".", "../conformance/adapters/go", cwd=HERE)
    if code or said:
        return 1, f"run gofmt -w on\n{said}"
    return run("go", "test", "-count=1", "-vet=all", "./...", cwd=HERE)


def models():
    return run(sys.executable, HERE / "generate.py", cwd=HERE)


def readme():
    """The examples are the body of one program, after its imports; the one that is a package of its own is a test."""
    blocks = re.findall(r"^```go\n(.*?)^```", (HERE / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    test, = [block for block in blocks if block.startswith("package ")]
    imports, *body = [block for block in blocks if block != test]
    body = "".join(body).replace('"http://127.0.0.1:7420"', "server")
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        shutil.copytree(HERE, place / "duewheel", ignore=shutil.ignore_patterns("*_test.go"))
        project = place / "shop"
        project.mkdir()
        (project / "shop.go").write_text(f"package shop\n\n{imports}\nfunc examples(server string) {{\n{body}}}\n")
        (project / "shop_test.go").write_text(test)
        (project / "examples_test.go").write_text(
            'package shop\n\nimport (\n\t"testing"\n\n\t"duewheel.test/duewheel/duewheeltest"\n)\n\n'
            "func TestExamples(t *testing.T) { examples(duewheeltest.Start(t).URL) }\n")
        for words in (["init", "example.test/shop"],
                      ["edit", "-require", "duewheel.test/duewheel@v0.1.0", "-replace", "duewheel.test/duewheel=../duewheel"]):
            code, said = run("go", "mod", *words, cwd=project)
            if code:
                return code, said
        code, said = run("go", "test", "-count=1", "-v", ".", cwd=project)
        missing = [text for text in PRINTED if text not in said]
        return code or len(missing), f"{said}\nnot printed: {missing}"


def otel():
    module = HERE / "duewheelotel"
    if run("go", "list", "-deps", "-test", "./...", cwd=module)[0]:
        print("skipped: the modules of OpenTelemetry are not in build/go: run ./dev test clients")
        sys.exit(SKIPPED)
    return run("go", "test", "-count=1", "-vet=all", "./...", cwd=module)


CHECKS = {"units": units, "models": models, "readme": readme, "otel": otel}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        sys.stderr.write(__doc__)
        return 2
    found = re.search(r"go(\d+)\.(\d+)", run("go", "version", cwd=HERE)[1]) if shutil.which("go") else None
    if not found or tuple(map(int, found.groups())) < OLDEST:
        print(f"skipped: there is no Go {OLDEST[0]}.{OLDEST[1]} or newer")
        return SKIPPED
    code, said = CHECKS[sys.argv[1]]()
    if code:
        print(said)
    return code


if __name__ == "__main__":
    sys.exit(main())
