"""Builds River's load program (peers/river) into build/peers/river with the Go that is installed or, where that is missing or older than
peers/river/go.mod demands, with the one of its requirements.txt, which is fetched into build/peers/go."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "bench" / "durable" / "peers" / "river"
OUT = ROOT / "build" / "peers"
PROGRAM = OUT / "river"
CACHES = {"GOCACHE": str(ROOT / "build" / "go" / "cache"), "GOMODCACHE": str(ROOT / "build" / "go" / "modules"), "GOFLAGS": "-modcacherw"}
WITHIN_S = 900


def run(*words, **how):
    done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WITHIN_S, **how)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, words[:3]))}: {done.stdout[-400:].strip()}")
    return done.stdout


def installed_go():
    """The path of the installed Go, if it is as new as go.mod demands; else None."""
    oldest = re.search(r"^go (\d+)\.(\d+)", (SOURCES / "go.mod").read_text(), re.MULTILINE)
    path = shutil.which("go")
    found = re.search(r"go(\d+)\.(\d+)", run(path, "version")) if path else None
    return path if found and tuple(map(int, found.groups())) >= tuple(map(int, oldest.groups())) else None


def go():
    """The path of a Go that is new enough."""
    if installed := installed_go():
        return installed
    place, pins = OUT / "go", SOURCES / "requirements.txt"
    if not (place / "pins").exists() or (place / "pins").read_text() != pins.read_text():
        shutil.rmtree(place, ignore_errors=True)
        run(sys.executable, "-m", "venv", place)
        run(place / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "-r", pins)
        (place / "pins").write_text(pins.read_text())
    return place / "bin" / "go"


@functools.cache
def why_unavailable():
    """Builds the program. None, or why it could not be built."""
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        run(go(), "build", "-o", PROGRAM, ".", cwd=SOURCES, env={**os.environ, **CACHES, "GOTOOLCHAIN": "local"})
    except (OSError, subprocess.SubprocessError) as problem:
        return f"its load program could not be built: {problem}"
    return None
