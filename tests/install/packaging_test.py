#!/usr/bin/env python3
"""What lies under packaging/, before any package is made: alert rules, dashboard, service, man pages, container file.

Programs are found in the directory that DUEWHEEL_BIN names. What needs promtool, systemd-analyze or mandoc is skipped where they
are not installed; `./dev test full` installs them.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
RULES = PACKAGING / "prometheus/duewheel.rules.yml"
RULE_TESTS = ROOT / "tests/install/duewheel.rules.test.yml"
BOARD = PACKAGING / "grafana/duewheel.json"
EXPOSURE_MAX = 1.5


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **more)


def documented_series():
    """The series that docs/metrics.md promises, with their labels."""
    series = {}
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \|([^|]*)\|", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE):
        labels = set(re.findall(r"\w+", labels)) | {"job", "instance"}
        if kind == "histogram":
            series.update({f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels})
        else:
            series[name] = labels
    return series


def board_queries():
    board = json.loads(BOARD.read_text())
    return [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]


def rule_queries():
    return re.findall(r"^        expr: (.*)$", RULES.read_text(), re.MULTILINE)


class Monitoring(unittest.TestCase):
    def test_alerts_and_dashboard_name_metrics_and_labels_that_exist(self):
        known = documented_series()
        self.assertGreater(len(known), 100)
        queries = rule_queries() + board_queries()
        self.assertGreater(len(queries), 40)
        for query in queries:
            names = re.findall(r"\b(?:duewheel|process)_\w+", query)
            self.assertTrue(names or query.startswith("up{"), query)
            for name in names:
                self.assertTrue(name in known, f"docs/metrics.md has no {name}: {query}")
            labels = set(re.findall(r"[{,]\s*(\w+)\s*=", query))
            for grouped in re.findall(r"\b(?:by|on) \(([^)]*)\)", query):
                labels |= set(re.findall(r"\w+", grouped))
            allowed = set.union({"job", "instance"}, *(known[name] for name in names))
            self.assertLessEqual(labels, allowed, query)

    def test_each_alert_has_a_test_in_which_it_fires(self):
        alerts = re.findall(r"alert: (\w+)", RULES.read_text())
        self.assertGreater(len(alerts), 10)
        fired = set(re.findall(r'alertname="(\w+)"', RULE_TESTS.read_text()))
        self.assertEqual(fired, set(alerts))

    def test_each_alert_is_explained_to_operators(self):
        page = (ROOT / "docs/operating.md").read_text()
        for alert in re.findall(r"alert: (\w+)", RULES.read_text()):
            self.assertEqual(page.count(f"| `{alert}` |"), 1, alert)

    @needs("promtool")
    def test_alerts_fire_when_they_should(self):
        checked = run("promtool", "check", "rules", RULES)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        tested = run("promtool", "test", "rules", RULE_TESTS)
        self.assertEqual(tested.returncode, 0, tested.stdout + tested.stderr)

    @needs("promtool")
    def test_queries_of_the_dashboard_can_be_read(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as rules:
            rules.write("groups:\n  - name: board\n    rules:\n")
            for number, query in enumerate(board_queries()):
                query = query.replace("$__rate_interval", "5m").replace("$instance", ".*")
                rules.write(f"      - record: query_{number}\n        expr: {json.dumps(query)}\n")
            rules.flush()
            checked = run("promtool", "check", "rules", rules.name)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


class Service(unittest.TestCase):
    @needs("systemd-analyze")
    def test_is_a_tight_sandbox(self):
        rated = run("systemd-analyze", "security", "--offline=true", "--no-pager", PACKAGING / "duewheel.service")
        found = re.search(r"Overall exposure level for \S+: ([\d.]+)", rated.stdout)
        self.assertTrue(found, rated.stdout + rated.stderr)
        self.assertLessEqual(float(found[1]), EXPOSURE_MAX, rated.stdout)

    def test_reaches_no_metadata_service_sees_no_other_process_and_has_limits(self):
        unit = (PACKAGING / "duewheel.service").read_text()
        for setting in ("ProcSubset=pid", "IPAddressDeny=link-local", "MemoryMax=80%", "MemorySwapMax=0", "TasksMax=256"):
            self.assertRegex(unit, rf"(?m)^{re.escape(setting)}$")

    # Without /proc/stat there was no start time, and so no alert on restarts; without the boot's id, less trust in the clock.
    @needs("unshare")
    def test_knows_its_start_and_the_boot_without_the_rest_of_proc(self):
        script = ('mount -t proc -o subset=pid proc /proc && test ! -e /proc/stat && exec "$@"')
        with tempfile.TemporaryDirectory() as data:
            server = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh",
                 pathlib.Path(os.environ["DUEWHEEL_BIN"]) / "duewheeld", "--data", data, "--http", "127.0.0.1:0"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "MACHINE_BOOT_ID": "0123456789abcdef0123456789abcdef", "DUEWHEEL_STORE_SEGMENT_SIZE": "1MiB"})
            try:
                ready = re.match(r"ready http=(\S+)", server.stdout.readline())
                if not ready:
                    self.skipTest(f"no file system can be mounted here: {server.stderr.read()[-300:]}")
                with urllib.request.urlopen(f"http://{ready[1]}/metrics", timeout=30) as page:
                    started = re.search(r"(?m)^process_start_time_seconds (\S+)$", page.read().decode())
                self.assertLess(abs(float(started[1]) - time.time()), 60)
                self.assertIn("machine_run 0123456789abcdef0123456789abcdef\n", (pathlib.Path(data) / "clock").read_text())
            finally:
                server.kill()
                server.communicate()

    @needs("systemd-analyze")
    def test_names_no_setting_that_systemd_does_not_know(self):
        with tempfile.TemporaryDirectory() as directory:
            for program in ("usr/bin/duewheeld", "bin/sh"):
                path = pathlib.Path(directory) / program
                path.parent.mkdir(parents=True)
                path.write_text("#!/bin/sh\n")
                path.chmod(0o755)
            units = pathlib.Path(directory) / "etc/systemd/system"
            units.mkdir(parents=True)
            shutil.copy(PACKAGING / "duewheel.service", units)
            verified = run("systemd-analyze", "verify", "--root", directory, "--man=no", "--recursive-errors=no", "duewheel.service")
        self.assertNotRegex(verified.stderr, r"duewheel\.service:\d+: ")

    # Five starts that failed within ten seconds, and systemd left the service down.
    def test_is_started_again_for_as_long_as_it_fails(self):
        unit = (PACKAGING / "duewheel.service").read_text()
        self.assertRegex(unit.split("[Service]")[0], r"(?m)^StartLimitIntervalSec=0$")
        self.assertRegex(unit, r"(?m)^RestartSec=5s$")

    # A damaged log, or a directory that is a backup, made systemd try every five seconds for ever.
    def test_is_not_started_again_when_no_start_can_succeed(self):
        unit = (PACKAGING / "duewheel.service").read_text()
        prevented = set(re.search(r"(?m)^RestartPreventExitStatus=(.*)$", unit)[1].split())
        with tempfile.TemporaryDirectory() as directory:
            data = pathlib.Path(directory)
            (data / "backup").touch()
            for address in ("nonsense", "127.0.0.1:0"):
                refused = run(pathlib.Path(os.environ["DUEWHEEL_BIN"]) / "duewheeld", "--data", data, "--http", address)
                self.assertIn(str(refused.returncode), prevented, refused.stderr)


class ManPages(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        made = run(sys.executable, PACKAGING / "man_pages.py", "--bin", os.environ["DUEWHEEL_BIN"], "--to", self.directory,
                   "--version", "1.2.3", env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        self.assertEqual(made.returncode, 0, made.stderr)

    def text(self, name):
        shown = run("mandoc", "-Tutf8", "-O", "width=400", self.directory / name)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return re.sub(r".\x08", "", shown.stdout)

    def help_of(self, program, *command):
        return run(pathlib.Path(os.environ["DUEWHEEL_BIN"]) / program, *command, "--help").stdout

    @needs("mandoc")
    def test_are_without_fault(self):
        pages = sorted(self.directory.rglob("*.gz"))
        self.assertGreater(len(pages), 30)
        for page in pages:
            linted = run("mandoc", "-Tlint", "-Wwarning", page)
            self.assertEqual((linted.returncode, linted.stdout), (0, ""))

    @needs("mandoc")
    def test_explain_each_command_and_option_of_the_help(self):
        commands = re.findall(r"^  (\w+)", self.help_of("duewheel").split("Subcommands:\n")[1].split("\n\n")[0], re.MULTILINE)
        self.assertEqual({path.name for path in self.directory.glob("man1/*")},
                         {"duewheel.1.gz", *(f"duewheel-{command}.1.gz" for command in commands)})
        pages = [("man1/duewheel.1.gz", self.help_of("duewheel")), ("man8/duewheeld.8.gz", self.help_of("duewheeld"))]
        pages += [(f"man1/duewheel-{command}.1.gz", self.help_of("duewheel", command)) for command in commands]
        for name, help_text in pages:
            text = self.text(name)
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, re.MULTILINE):
                if "Subcommands:" not in help_text or option != "--help":
                    self.assertRegex(text, rf"(?m)^ +(-\w, )?{option}\b", name)
            for example in help_text.partition("Example:\n")[2].splitlines():
                self.assertIn(example.strip(), text, name)

    @needs("mandoc")
    def test_say_of_an_option_what_the_help_says(self):
        put = self.text("man1/duewheel-put.1.gz")
        self.assertRegex(put, r"--delay, --in DURATION\n +Due after this time: .*Not with --due, --ndjson\.\n")
        self.assertRegex(put, r"--batch UINT\n +.*From 1 to 1000000\. Only with --ndjson\.\n")
        self.assertRegex(self.text("man1/duewheel.1.gz"), r"--server URL\n +.*Environment: DUEWHEEL_SERVER\.\n")
        self.assertRegex(self.text("man1/duewheel.1.gz"), r"(?s)EXIT STATUS\n +0 +done\..*3 +.*cannot be reached\.\n")
        self.assertIn("1.2.3", put)
        self.assertIn("2023-11-14", put)


class Container(unittest.TestCase):
    def test_runs_without_rights_and_is_looked_after(self):
        text = (PACKAGING / "Containerfile").read_text()
        self.assertRegex(text, r"(?m)^USER [1-9]\d*:[1-9]\d*$")
        for wanted in ("VOLUME /var/lib/duewheel", "STOPSIGNAL SIGTERM", 'CMD ["duewheel", "health"]'):
            self.assertIn(wanted, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
