#!/usr/bin/env python3
"""What the tests of the Java client are built with, in build/java: build.py fetch | compile

    fetch     fetches what Maven needs to build and test it, unless it is there; ./dev calls it
    compile   compiles the client and the adapter of the conformance scenarios, and prints the class path. A folder has the name of what it
              was made of, so any number of tests can begin with it at the same time

Exit code 77: there is no JDK 17, no Maven, or the artifacts were not fetched.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PLACE = HERE.parents[1] / "build" / "java"
REPOSITORY, LIBRARIES, FETCHED = PLACE / "repository", PLACE / "libraries", PLACE / "fetched"
SOURCES = HERE / "duewheel-client" / "src" / "main" / "java"
ADAPTER = HERE.parent / "conformance" / "adapters" / "java"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
OLDEST = 17
SKIPPED = 77


def digest_of(files):
    made = hashlib.sha256()
    for file in files:
        made.update(file.name.encode() + b"\0" + file.read_bytes())
    return made.hexdigest()[:16]


def poms():
    return digest_of([HERE / "pom.xml", *sorted(HERE.glob("*/pom.xml"))])


def missing_tools():
    """Why nothing of Java can be built here; empty if it can."""
    if not shutil.which("javac") or not shutil.which("java"):
        return "there is no JDK"
    found = re.search(r"javac (\d+)", subprocess.run(["javac", "-version"], capture_output=True, text=True, check=False).stdout)
    if not found or int(found[1]) < OLDEST:
        return f"there is no JDK {OLDEST} or newer"
    return "" if shutil.which("mvn") else "there is no Maven"


def missing():
    """Why no test can run here; empty if they can."""
    return missing_tools() or ("" if FETCHED.exists() and FETCHED.read_text() == poms() else "its artifacts were not fetched: run ./dev packages")


def maven(*words, offline=True):
    """The words that start Maven, with the repository of this project."""
    return ["mvn", "-B", "-q", *(["-o"] if offline else []), f"-Dmaven.repo.local={REPOSITORY}", *words]


def fetch():
    """Builds the modules with a test each and no sources, as those that do not compile must fail a test and not be skipped."""
    if missing_tools() or not missing():
        return 0
    FETCHED.unlink(missing_ok=True)
    shutil.rmtree(LIBRARIES, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name) / "clients" / "java"
        for pom in (HERE / "pom.xml", *HERE.glob("*/pom.xml")):
            place = copy / pom.parent.relative_to(HERE)
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(pom, place)
            if place != copy:
                test = place / "src" / "test" / "java" / "NoTest.java"
                test.parent.mkdir(parents=True)
                test.write_text("class NoTest {\n    @org.junit.jupiter.api.Test\n    void none() {}\n}\n")
        for words in (["install"], [COPY, "-pl", "duewheel-client", f"-DoutputDirectory={LIBRARIES}", "-DincludeScope=compile"]):
            done = subprocess.run(maven(*words, offline=False), cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                print(done.stdout)
                return 1
    FETCHED.write_text(poms())
    return 0


def compiled():
    """The class path of what is compiled."""
    libraries = sorted(LIBRARIES.glob("*.jar"))
    sources = [*sorted(SOURCES.glob("**/*.java")), *sorted(ADAPTER.glob("*.java"))]
    out = PLACE / "classes" / digest_of([*sources, HERE / "pom.xml"])
    path = os.pathsep.join(map(str, [out, *libraries]))
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        part = tempfile.mkdtemp(dir=out.parent)
        subprocess.run(["javac", "--release", str(OLDEST), "-parameters", "-d", part, "-cp", path, *map(str, sources)], check=True, stdout=sys.stderr)
        try:
            os.rename(part, out)
        except OSError:
            shutil.rmtree(part)  # another process was faster
    return path


def main():
    if sys.argv[1:] == ["fetch"]:
        return fetch()
    if sys.argv[1:] != ["compile"]:
        sys.stderr.write(__doc__)
        return 2
    if missing():
        sys.stderr.write(f"the Java client is not built: {missing()}\n")
        return SKIPPED
    print(compiled())
    return 0


if __name__ == "__main__":
    sys.exit(main())
