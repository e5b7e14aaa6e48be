"""Pages of the documentation that run as pasted. The `sh` blocks of a page run in order, in one shell, in a folder of their own. A block of
another language whose first line is a comment with the name of a file, such as `# worker.py`, becomes that file. The block without a language
after an `sh` block is what its commands print; if there is none, they print nothing. Ids, times and secrets are masked, but times are not
in an example that names a date. The order of the lines is not compared, because a worker in the background prints beside the commands.

With DUEWHEEL_RECORD=1, what is printed is written into the page.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from daemon import BIN

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from kafka_cluster import free_ports  # noqa: E402

CLIENT_PYTHON = ROOT / "build" / "python" / "bin" / "python"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?:#|//|--) ([\w.-]+\.\w+)\n")
END = "-- end of example --"
WITHIN_S = 120
TIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?[+-]\d\d:\d\d|Z)?")
AGE = r"(\d+(\.\d+)?(us|ms|s|m|h|d)\b ?)+"
VARYING = ((re.compile(r"\bdw_[\w-]+|\b[\w-]{32,}"), "SECRET"),
           (re.compile(rf"\b((in|waited) {AGE}|{AGE}(late|ago)|now\b)"), "WHEN "),
           (re.compile(r"\b(zone data|records) +\w+"), r"\1 N"),
           (re.compile(r"\b\d{4,}(\.\d+)?\b"), "N"))


def blocks(page, language):
    """The text of each block of this language."""
    return [text for found, text in FENCE.findall(page.read_text()) if found == language]


def skip_without_client(test):
    if not CLIENT_PYTHON.exists() or subprocess.run([CLIENT_PYTHON, "-c", "import httpx"], capture_output=True).returncode:
        test.skipTest("the packages of the Python client are not in build/python: run ./dev packages")


def substituted(text, others):
    """With each of these words replaced by its other, unless it is a part of a longer number."""
    pattern = "|".join(re.escape(words) for words in sorted(others, key=len, reverse=True))
    return re.sub(rf"(?<!\d)(?:{pattern})(?!\d)", lambda found: others[found[0]], text)


def masked(text, is_dated):
    if not is_dated:
        text = TIME.sub("TIME", text)
    for pattern, mask in VARYING:
        text = pattern.sub(mask, text)
    return sorted(" ".join(line.split()) for line in text.splitlines())


class Page:
    """`replaced` is what the page says, and what stands for it here, such as a port."""

    def __init__(self, path, replaced):
        self.path, self.replaced = path, replaced
        self.text = path.read_text()

    def parts(self):
        """[(match of a block that runs, what it runs, match of its output or None)]."""
        found, before = [], None
        for block in FENCE.finditer(self.text):
            language, text = block.groups()
            if language == "sh":
                found.append([block, text, None])
            elif language and (named := NAMED.match(text)):
                found.append([block, f"cat > {named[1]} <<'{END}'\n{text}{END}\n", None])
            elif not language and before == "sh":
                found[-1][2] = block
            before = language
        return found

    def run(self, folder, environment):
        """What each part prints."""
        script = "exec 2>&1\n" + "".join(f"{text}echo '{END}'\n" for _, text, _ in self.parts())
        (folder / "page.sh").write_text(substituted(script, self.replaced))
        with open(folder / "printed", "wb") as output:
            shell = subprocess.Popen(["bash", "page.sh"], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                     env=environment, start_new_session=True)
            try:
                shell.wait(WITHIN_S)
            except subprocess.TimeoutExpired as error:
                raise AssertionError(f"{self.path.name} has not ended; it printed\n{(folder / 'printed').read_text()}") from error
            finally:
                with contextlib.suppress(ProcessLookupError):  # none is left
                    os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
        printed = substituted((folder / "printed").read_text(), {other: words for words, other in self.replaced.items()})
        return printed.split(f"{END}\n")[:-1]

    def record(self, printed):
        """Writes what differs, in more than what varies, into the page."""
        for (block, text, shown), output in reversed(list(zip(self.parts(), printed, strict=True))):
            if not differs(text, shown, output):
                continue
            output = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
            begin, end = shown.span() if shown else (block.end(), block.end())
            between = "" if shown else "\n"
            self.text = self.text[:begin] + (f"{between}```\n{output}```\n" if output else "") + self.text[end:]
        self.path.write_text(self.text)


def differs(text, shown, output):
    is_dated = re.search(r"\b20\d\d-\d\d-\d\d", text)
    return masked(output, is_dated) != masked(shown[2] if shown else "", is_dated)


def check(test, path, replaced=None):
    """Runs the page, whose servers listen on port 7420 if it names no other, and compares what it prints."""
    skip_without_client(test)
    port = str(free_ports(1)[0])
    page = Page(path, {**(replaced or {}), "7420": port})
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DUEWHEEL_")}
    environment.update(PATH=os.pathsep.join([str(BIN), str(CLIENT_PYTHON.parent), environment["PATH"]]), TZ="UTC", PYTHONUNBUFFERED="1",
                       PYTHONPATH=str(ROOT / "clients" / "python" / "src"), DUEWHEEL_HTTP=f"127.0.0.1:{port}",
                       DUEWHEEL_SERVER=f"http://127.0.0.1:{port}", DUEWHEEL_STORE_SEGMENT_SIZE="4MiB")
    with tempfile.TemporaryDirectory(prefix="duewheel-page-") as name:
        folder = pathlib.Path(name)
        (folder / "tools").symlink_to(ROOT / "tools")
        printed = page.run(folder, environment)
    parts = page.parts()
    test.assertEqual(len(printed), len(parts), "the shell ended early: " + "".join(printed[-1:]))
    if os.environ.get("DUEWHEEL_RECORD"):
        return page.record(printed)
    for (_, text, shown), output in zip(parts, printed):
        if differs(text, shown, output):
            with test.subTest(example=text):
                test.assertEqual(output, shown[2] if shown else "")
                test.fail("what varies differs in its form")
