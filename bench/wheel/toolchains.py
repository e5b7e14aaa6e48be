"""Peers in other languages: each is built with its language's own tools, from their usual package registry, when they are
there; otherwise it is skipped by name. What they make lies under build/peers."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "bench" / "peers"
OUT = ROOT / "build" / "peers"


def java():
    subprocess.run(["mvn", "-q", "-B", "-f", SOURCES / "java" / "pom.xml", "package"], check=True,
                   stdout=subprocess.DEVNULL, timeout=900)
    command = ["java", "-Xms4g", "-Xmx4g", "-cp", f"{OUT}/java/classes:{OUT}/java/lib/*", "duewheel.Peers"]
    return {name: [*command, name] for name in ("agrona", "netty", "kafka", "executor")}


def rust():
    target = OUT / "rust"
    subprocess.run(["cargo", "build", "-q", "--release", "--manifest-path", SOURCES / "rust" / "Cargo.toml",
                    "--target-dir", target], check=True, timeout=900)
    return {"tokio": [str(target / "release" / "duewheel_tokio_bench"), "tokio"]}


def go():
    program = OUT / "go_timers"
    subprocess.run(["go", "build", "-o", program, "."], cwd=SOURCES / "go", check=True, timeout=900)
    return {"go": [str(program), "go"]}


def subjects(wanted=None):
    """{subject: command}. Builds those that are among the wanted ones; all, if nothing is said."""
    found = {}
    OUT.mkdir(parents=True, exist_ok=True)
    for language, names, tools, build in (("Java", ("agrona", "netty", "kafka", "executor"), ("java", "javac", "mvn"), java),
                                          ("Rust", ("tokio",), ("cargo",), rust), ("Go", ("go",), ("go",), go)):
        if wanted and not set(wanted) & set(names):
            continue
        name = f"{language}: {', '.join(names)}"
        missing = [tool for tool in tools if shutil.which(tool) is None]
        if missing:
            print(f"skipped: {name} (there is no {', '.join(missing)})", file=sys.stderr)
            continue
        try:
            found.update(build())
        except (subprocess.SubprocessError, OSError) as problem:
            print(f"skipped: {name} ({problem})", file=sys.stderr)
    return found
