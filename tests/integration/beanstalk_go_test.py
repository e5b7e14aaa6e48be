"""The client library of beanstalkd for Go, with a program that uses it (go_client/main.go). Skipped without Go, or if its module
cannot be fetched."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from beanstalk_client import BeanstalkDaemon

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "build" / "go"
SKIPPED = 77
WITHIN_S = 600


def go(*arguments):
    environment = dict(os.environ, GOMODCACHE=str(PACKAGES / "modules"), GOCACHE=str(PACKAGES / "cache"), GOFLAGS="-modcacherw")
    return subprocess.run(["go", *arguments], cwd=ROOT / "tests" / "integration" / "go_client", env=environment, capture_output=True,
                          text=True, timeout=WITHIN_S)


def main():
    if not shutil.which("go"):
        print("skipped: there is no go")
        sys.exit(SKIPPED)
    fetched = go("mod", "download")
    if fetched.returncode != 0:
        print(f"skipped: the module cannot be fetched: {fetched.stderr}")
        sys.exit(SKIPPED)
    built = go("build", "-o", str(PACKAGES / "go_client"), ".")
    assert built.returncode == 0, built.stderr
    with BeanstalkDaemon() as daemon:
        daemon.start()
        port = int(re.findall(r"beanstalk_ready.*:(\d+)", daemon.log_text())[-1])
        done = subprocess.run([PACKAGES / "go_client", f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=WITHIN_S)
        assert (done.returncode, done.stdout) == (0, "OK\n"), done.stdout + done.stderr
    print("OK")


if __name__ == "__main__":
    main()
