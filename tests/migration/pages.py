"""The code of the pages in docs/migration, as a reader copies it.

A block whose first line is a comment with a file's name, such as `# shop.py`, is that file.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
SKIPPED = 77
WITHIN_S = 60
NAMED = re.compile(r"(?:<\?php )?(?://|#|--) (?P<name>[\w./-]+\.\w+)\n")
# The environment of a program with the Python client.
CLIENT = {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "clients" / "python" / "src"), os.environ.get("PYTHONPATH")]))}


def blocks(page, language):
    """The blocks of this language of docs/migration/PAGE.md."""
    text = (ROOT / "docs" / "migration" / f"{page}.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def files(page, language):
    """The named files of the page in this language: {name: content}."""
    return {match["name"]: block for block in blocks(page, language) if (match := NAMED.match(block))}


def write_files(page, language, place, replaced):
    """Writes the page's named files into a folder, with addresses replaced: {text: other text}. Each of these texts has to occur."""
    left = set(replaced)
    for name, content in files(page, language).items():
        for text, other in replaced.items():
            if text in content:
                content, left = content.replace(text, other), left - {text}
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert not left, f"{page}.md has none of {left}"


def skip_without(*programs, files=()):
    """Ends a test's process as skipped if a program or a file is missing."""
    missing = [name for name in programs if not shutil.which(name)] + [str(name) for name in files if not pathlib.Path(name).exists()]
    if missing:
        print(f"skipped: {', '.join(missing)} not found")
        sys.exit(SKIPPED)


def client_python(*modules):
    """The Python of DUEWHEEL_CLIENT_PYTHON, which has these modules. Else the test is skipped."""
    python = os.environ.get("DUEWHEEL_CLIENT_PYTHON", sys.executable)
    for module in modules:
        if subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode:
            print(f"skipped: {python} has no {module}")
            sys.exit(SKIPPED)
    return python


def run(*words, cwd, environment=None):
    """What a program prints; fails with all of it if it fails."""
    done = subprocess.run([*map(str, words)], cwd=cwd, env=dict(os.environ, **(environment or {})), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=2 * WITHIN_S, check=False)
    assert done.returncode == 0, f"{words} ended with {done.returncode}\n{done.stdout}"
    return done.stdout


def until(what, holds, describe=lambda: ""):
    deadline = time.monotonic() + WITHIN_S
    while not (value := holds()):
        assert time.monotonic() < deadline, f"{what} did not happen\n{describe()}"
        time.sleep(0.05)
    return value


def java_path():
    """The class path of the Java client. Without a JDK, or what the client needs, the test is skipped."""
    sys.path.insert(0, str(ROOT / "clients" / "java"))
    import build
    if build.missing():
        print(f"skipped: {build.missing()}")
        sys.exit(SKIPPED)
    return build.compiled()


def compile_java(page, place, path, replaced):
    """Compiles the page's classes into a folder with all warnings as errors; the class path with them."""
    write_files(page, "java", place, replaced)
    run("javac", "-Xlint:all,-processing", "-Werror", "-d", place, "-cp", path, *files(page, "java"), cwd=place)
    return os.pathsep.join([str(place), path])


def start_redis(workers, place):
    """A Redis for one test; the path of its socket."""
    socket = place / "redis.sock"
    workers.start("redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", place, cwd=place)
    until("the start of Redis", socket.exists, workers.log)
    return socket


class Workers:
    """Processes that a test starts and ends, with one log."""

    def __init__(self, place):
        self.path, self.running = place / "workers.log", []

    def start(self, *words, cwd, environment=None):
        with open(self.path, "ab") as log:
            self.running.append(subprocess.Popen([*map(str, words)], cwd=cwd, env=dict(os.environ, **(environment or {})), stdout=log, stderr=log))
        return self.running[-1]

    def log(self):
        return self.path.read_text(errors="replace") if self.path.exists() else ""

    def kill(self):
        for process in self.running:
            process.kill()
            process.wait()
        self.running.clear()
