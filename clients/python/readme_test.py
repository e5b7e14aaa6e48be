#!/usr/bin/env python3
"""Runs the examples of README.md, from top to bottom in one program, against a server with a test clock."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "integration"))
from daemon import Daemon  # noqa: E402

SKIPPED = 77


def main():
    python = os.environ.get("DUEWHEEL_CLIENT_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import httpx"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped: the Python client needs httpx")
        return SKIPPED
    examples = re.findall(r"^```python\n(.*?)^```", (HERE / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    with Daemon(arguments=["--test-clock"]) as daemon:
        daemon.start()
        program = "\n".join(examples).replace("127.0.0.1:7420", f"127.0.0.1:{daemon.port}")
        done = subprocess.run([python, "-c", program], env=dict(os.environ, PYTHONPATH=str(HERE / "src")), capture_output=True, text=True,
                              timeout=120, check=False)
    said = done.stdout + done.stderr
    missing = [text for text in ("cancelled", "already_cancelled", "done {'sent_to': 'ben'}", "['ready', 'ready']") if text not in said]
    if done.returncode or missing or len(examples) < 7:
        print(f"{said}\nexit code {done.returncode}; {len(examples)} examples; missing: {missing}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
