#!/usr/bin/env python3
"""Runs the conformance scenarios with the adapter of one client, against the real server behind a faulty network.

    run.py [--adapter NAME] [--only WORD]... [--quick] [--jobs N] [--list] [--verbose]
    run.py --self-test                  breaks the HTTP adapter in each way that it knows, and expects that scenarios fail

README.md describes scenarios and adapters. The programs of the server are in the folder that DUEWHEEL_BIN names, by default in
build/test/bin or build/release/bin of this project. Exit code 0: no scenario failed; 1: some did; 2: a scenario is not written
correctly, or there is no such adapter or server; 77: the adapter lacks something on this machine.
"""

import argparse
import collections
import dataclasses
import json
import math
import os
import pathlib
import queue
import shlex
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
if "DUEWHEEL_BIN" not in os.environ:
    built = [ROOT / "build" / preset / "bin" for preset in ("test", "release")]
    os.environ["DUEWHEEL_BIN"] = str(next((path for path in built if (path / "duewheeld").exists()), built[0]))

from adapter import SKIPPED, AdapterFailed, lacks_something  # noqa: E402
from environment import Environment  # noqa: E402
from steps import Failed, Run, faults_of_step  # noqa: E402

MEMBERS = {"name", "proves", "needs", "server", "steps", "serves"}
# What an adapter may say in its `hello` that its client can do beyond the calls that each client has.
CAPABILITIES = {"codec", "take", "versions", "workers"}
PATIENCE_WITH_BROKEN_S = 1  # with which the self-test polls for what must not come


def load():
    """All scenarios, checked."""
    scenarios, found = [], []
    for path in sorted((HERE / "scenarios").glob("*.json")):
        for scenario in json.loads(path.read_text()):
            scenario["file"] = path.stem
            where = f"{path.name}: {scenario.get('name')}"
            found += [f"{where}: `{name}` is no member of a scenario" for name in set(scenario) - MEMBERS - {"file"}]
            found += [f"{where}: there is no `{name}`" for name in ("name", "proves", "steps") if not scenario.get(name)]
            found += [f"{where}: `{name}` is no capability" for name in set(scenario.get("needs", [])) - CAPABILITIES]
            found += [f"{where}: {fault}" for step in scenario.get("steps", []) for fault in faults_of_step(step)]
            scenarios.append(scenario)
    names = collections.Counter(scenario.get("name") for scenario in scenarios)
    found += [f"{name}: two scenarios have this name" for name, count in names.items() if count > 1]
    if found:
        sys.stderr.write("".join(f"run.py: {line}\n" for line in found))
        sys.exit(2)
    return scenarios


def adapter_command(name, arguments=()):
    """adapters/NAME/command has the words that start it, from its folder."""
    folder = HERE / "adapters" / name
    if not (folder / "command").is_file():
        known = ", ".join(sorted(path.parent.name for path in HERE.glob("adapters/*/command")))
        sys.stderr.write(f"run.py: there is no adapter `{name}`; there is {known}\n")
        sys.exit(2)
    return ["sh", "-c", f"cd {shlex.quote(str(folder))} && exec {(folder / 'command').read_text().strip()} \"$@\"", name, *arguments]


class Report:
    """What became of each scenario. Used by all lanes. verbose: None prints nothing, not even failures."""

    def __init__(self, verbose):
        self.verbose = verbose
        self.lock = threading.Lock()
        self.failed, self.skipped, self.passed = {}, {}, []  # guarded by lock

    def note(self, scenario, took_s, failure="", skipped=""):
        with self.lock:
            name = scenario["name"]
            if skipped:
                self.skipped[name] = skipped
            elif failure:
                self.failed[name] = failure
                if self.verbose is not None:
                    print(f"FAILED {name} ({scenario['file']}.json)\n    proves: {scenario['proves']}\n    {failure}\n", flush=True)
            else:
                self.passed.append(name)
            if self.verbose and not failure:
                print(f"{'skip' if skipped else 'ok  '} {took_s:6.2f} s  {name}{f' ({skipped})' if skipped else ''}", flush=True)

    def print_end(self, took_s):
        for name, reason in sorted(self.skipped.items()):
            print(f"skipped {name}: {reason}")
        print(f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped, in {took_s:.0f} s")


@dataclasses.dataclass(eq=False)
class Task:
    """A scenario to run with an adapter, and the report that gets what became of it."""
    scenario: dict
    command: list
    report: Report


class Lane:
    """A thread's worth of scenarios, one after the other, in one environment but for those that need a server of their own."""

    def __init__(self, patience_s):
        self.patience_s, self.shared = patience_s, None

    def run(self, waiting):
        try:
            while True:
                self.run_one(waiting.get_nowait())
        except queue.Empty:
            pass
        finally:
            self.leave()

    def run_one(self, task):
        began, failure, skipped = time.monotonic(), "", ""
        try:
            self.prepare(task.command)
            skipped = self.missing(task.scenario)
            if not skipped:
                self.carry_out(task)
        except (Failed, AdapterFailed, OSError, AssertionError) as error:
            failure = str(error) or repr(error)
        task.report.note(task.scenario, time.monotonic() - began, failure, skipped)

    def prepare(self, command):
        if not self.shared:
            self.shared = Environment(command, {})
        elif self.shared.command != command:
            self.shared.restart_adapter(command)

    def missing(self, scenario):
        """Why the scenario is skipped; empty if it is not."""
        lacking = (set(scenario.get("needs", [])) - set(self.shared.adapter.about["capabilities"])
                   or set(scenario.get("serves", [])) - self.shared.offers)
        return f"needs {', '.join(sorted(lacking))}" if lacking else ""

    def carry_out(self, task):
        own = Environment(task.command, task.scenario["server"]) if "server" in task.scenario else None
        run = Run(own or self.shared, task.scenario, self.patience_s)
        try:
            run.carry_out()
        except BaseException as error:
            if not own:
                self.shared.recover(calls_in_progress=bool(run.started) or isinstance(error, AdapterFailed))
            raise
        finally:
            if own:
                own.close()

    def leave(self):
        if self.shared:
            self.shared.close()


def run(tasks, jobs, patience_s=math.inf):
    """Runs all tasks, at most `jobs` at once; those with a server of their own first, because they take longer."""
    waiting = queue.Queue()
    for task in sorted(tasks, key=lambda task: "server" not in task.scenario):
        waiting.put(task)
    lanes = [threading.Thread(target=Lane(patience_s).run, args=(waiting,)) for _ in range(min(jobs, len(tasks)))]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()


def self_test(scenarios, jobs):
    """Each breakage of the HTTP client must make the scenarios fail that it names, and an adapter that does nothing all of them."""
    sys.path.insert(0, str(HERE / "adapters" / "http"))
    from broken import BREAKAGES
    reports, tasks, survived = {}, [], []
    for name, (_, expected) in BREAKAGES.items():
        chosen = [scenario for scenario in scenarios if expected == "all" or scenario["name"] in expected]
        if expected != "all" and len(chosen) != len(expected):
            survived.append(f"{name} names scenarios that do not exist: {set(expected) - {each['name'] for each in chosen}}")
        reports[name] = Report(verbose=None)
        tasks += [Task(scenario, adapter_command("http", ["--broken", name]), reports[name]) for scenario in chosen]
    run(tasks, jobs, PATIENCE_WITH_BROKEN_S)
    for name, report in reports.items():
        survived += [f"--broken {name}: `{scenario}` passed, and should have failed" for scenario in report.passed]
    print("\n".join([*survived, f"{sum(len(report.failed) for report in reports.values())} runs of scenarios with a broken client failed, as they "
                     f"should; {len(survived)} did not"]))
    return 1 if survived else 0


def main():
    parser = argparse.ArgumentParser(description="Runs the conformance scenarios with the adapter of one client.")
    parser.add_argument("--adapter", default="http", help="a folder of adapters/, by default http")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="scenarios whose name or file has this word; may be repeated")
    parser.add_argument("--quick", action="store_true", help="only scenarios that neither restart the server nor need one of their own")
    parser.add_argument("--jobs", type=int, default=4, help="how many run at once, 4 by default: they mostly wait")
    parser.add_argument("--list", action="store_true", help="print the scenarios, with what each proves")
    parser.add_argument("--verbose", action="store_true", help="print each scenario with its time")
    parser.add_argument("--self-test", action="store_true", help="break the HTTP adapter, and expect failures")
    parser.add_argument("adapter_arguments", nargs="*", help="after --: arguments of the adapter, such as -- --broken no_key")
    options = parser.parse_args()
    scenarios = [scenario for scenario in load()
                 if not options.only or any(word in (scenario["file"], scenario["name"]) or word in scenario["name"] for word in options.only)]
    if options.quick:
        scenarios = [scenario for scenario in scenarios if "server" not in scenario and not any("server" in step for step in scenario["steps"])]
    if options.list:
        for scenario in scenarios:
            print(f"{scenario['name']}: {scenario['proves']}")
        return 0
    if options.self_test:
        return self_test(scenarios, options.jobs)
    program = pathlib.Path(os.environ["DUEWHEEL_BIN"]) / "duewheeld"
    if not program.exists():
        sys.stderr.write(f"run.py: {program} does not exist: run ./dev build, or set DUEWHEEL_BIN\n")
        return 2
    if not scenarios:
        sys.stderr.write("run.py: no scenario has such a name\n")
        return 2
    began = time.monotonic()
    report, command = Report(options.verbose), adapter_command(options.adapter, options.adapter_arguments)
    if lacks_something(command):
        print(f"the scenarios of the adapter {options.adapter} are skipped")
        return SKIPPED
    run([Task(scenario, command, report) for scenario in scenarios], options.jobs)
    report.print_end(time.monotonic() - began)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
