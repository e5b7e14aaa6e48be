"""Carries out the steps of one scenario. README.md, "Steps", describes each for those who write scenarios."""

import itertools
import json
import time

from expectations import at, fill, mismatches, seconds, shown
from environment import until
from proxy import FAULTS, Rule

CALLS = {
    "put", "put_many", "lease", "ack", "fail", "extend", "release", "hold_leased", "ack_many", "fail_many", "extend_many",
    "release_many", "get", "cancel", "move", "fire", "hold", "kick", "discard", "commit", "rollback", "list",
    "set_queue", "change_queue", "get_queue", "delete_queue", "pause_queue", "resume_queue", "purge_queue", "redrive", "back_off_group",
    "set_schedule", "change_schedule", "get_schedule", "delete_schedule", "pause_schedule", "resume_schedule", "fire_schedule",
    "preview_schedule", "set_watchdog", "get_watchdog", "feed_watchdog", "delete_watchdog", "advance",
    "work", "handled", "finish_work", "stop_work",
}
# The members of each kind of step; the first one names the kind.
STEPS = {
    "call": {"with", "as", "ok", "error", "keep", "took", "start", "until"},
    "finish": {"ok", "error", "keep", "took"},
    "connect": {"to", "token", "timeout", "ca", "namespace", "codec", "error"},
    "advance": set(),
    "server": set(),
    "adapter": set(),
    "network": set(),
    "proxy": {"of", "times", "delay", "status", "code", "retry_after", "kind", "body", "to"},
    "seen": {"count", "apart", "same", "different"},
    "http": {"with", "status", "shows", "keep", "until"},
}
FAMILIES = {"invalid", "unauthorized", "not_found", "conflict", "throttled", "unavailable"}
SEEN_WITHIN_S = 10
serial = itertools.count(1)


class Failed(Exception):
    """A step whose expectation was not met; its text says which."""


def kind_of(step):
    return next((kind for kind in STEPS if kind in step), None)


def faults_of_step(step):
    """What is wrong with a step as written, as texts."""
    kind = kind_of(step)
    if not kind:
        return [f"{shown(step)} is no step: it has none of {', '.join(STEPS)}"]
    found = [f"`{name}` is no member of a step `{kind}`" for name in set(step) - STEPS[kind] - {kind}]
    if kind == "call" and step["call"] not in CALLS:
        found.append(f"`{step['call']}` is no call")
    if kind == "proxy" and step["proxy"] not in FAULTS | {"clear"}:
        found.append(f"`{step['proxy']}` is no fault of the proxy")
    if kind == "server" and step["server"] not in ("stop", "kill", "start"):
        found.append("`server` is stop, kill or start")
    if kind in ("call", "finish") and "start" not in step and ("ok" in step) == ("error" in step):
        found.append(f"{shown(step)} expects either `ok` or `error`")
    if "error" in step and step["error"].get("family") not in FAMILIES:
        found.append(f"{shown(step)} names the family of its error: {', '.join(sorted(FAMILIES))}")
    if kind == "http" and "shows" not in step and "status" not in step:
        found.append(f"{shown(step)} expects nothing")
    return found


class Run:
    """One scenario in one environment. patience_s: the longest time to poll for something, if that is less than the scenario says."""

    def __init__(self, environment, scenario, patience_s):
        self.environment, self.scenario, self.patience_s = environment, scenario, patience_s
        number = next(serial)
        self.variables = {**environment.variables, "queue": f"queue-{number}", "schedule": f"schedule-{number}", "watchdog": f"watchdog-{number}",
                          "unique": f"{number}"}
        self.started = {}

    def carry_out(self):
        """Raises Failed, with the number of the step."""
        self.environment.proxy.clear()
        if not any("connect" in step for step in self.scenario["steps"][:1]):
            self.connect({"connect": "client"})
        for number, step in enumerate(self.scenario["steps"], 1):
            try:
                getattr(self, kind_of(step))(step)
            except Failed as failure:
                raise Failed(f"step {number}, {json.dumps(step, ensure_ascii=False)[:400]}\n    {failure}") from None
            except KeyError as error:
                raise Failed(f"step {number}: the variable or member {error} is not set") from None

    def fill(self, value):
        return fill(value, {**self.variables, **self.environment.variables})

    def connect(self, step):
        urls = {"proxy": self.environment.variables["proxy_url"], "server": self.environment.variables["server_url"]}
        to = step.get("to", "server" if self.environment.context else "proxy")
        arguments = {"url": urls.get(to) or self.fill(to)}
        arguments.update({name: self.fill(step[name]) for name in ("token", "timeout", "ca", "namespace", "codec") if name in step})
        answer = self.environment.adapter.request("connect", step["connect"], arguments)
        self.check({"ok": {}} if "error" not in step else step, answer, 0)

    def repeat(self, step):
        """Calls until the result is as expected."""
        def wrong():
            try:
                self.call({name: value for name, value in step.items() if name != "until"})
            except Failed as failure:
                return [str(failure)]
            return []
        found = until(min(seconds(step["until"]), self.patience_s), wrong)
        if found:
            raise Failed(found[0])

    def call(self, step):
        began = time.monotonic()
        slot = self.environment.adapter.start(step["call"], step.get("as", "client"), self.fill(step.get("with", {})))
        if "until" in step:
            self.repeat(step)
        elif "start" in step:
            self.started[step["start"]] = began, slot
        else:
            self.check(step, self.environment.adapter.finish(slot), began)

    def finish(self, step):
        began, slot = self.started.pop(step["finish"])
        self.check(step, self.environment.adapter.finish(slot), began)

    def check(self, step, answer, began):
        took_s = time.monotonic() - began
        wanted = "ok" if "ok" in step else "error"
        if wanted not in answer:
            raise Failed(f"expected {wanted} {shown(step[wanted])}, and the answer is {shown(answer)}")
        self.compare(step[wanted], answer[wanted])
        self.keep(step, answer[wanted])
        if "took" in step:
            low, high = map(seconds, step["took"])
            if not low <= took_s <= high:
                raise Failed(f"expected to take from {low} to {high} s, and it took {took_s:.2f} s")

    def compare(self, expected, actual):
        found = mismatches(self.fill(expected), actual)
        if found:
            raise Failed("\n    ".join(found))

    def keep(self, step, value):
        for name, path in step.get("keep", {}).items():
            try:
                self.variables[name] = at(value, path)
            except (LookupError, TypeError):
                raise Failed(f"`{name}` cannot be kept: there is no {path} in {shown(value)}") from None

    def advance(self, step):
        how = step["advance"] if isinstance(step["advance"], dict) else {"by": step["advance"]}
        status, answer = self.environment.request("POST /v1/clock:advance", self.fill(how))
        if status != 200:
            raise Failed(f"the clock was not advanced: {answer}")

    def server(self, step):
        if step["server"] == "start":
            self.environment.start_server()
        else:
            self.environment.stop_server(step["server"])

    def adapter(self, step):
        self.environment.restart_adapter()
        self.connect({"connect": "client"})

    def network(self, step):
        self.environment.proxy.drop_connections()

    def proxy(self, step):
        if step["proxy"] == "clear":
            self.environment.proxy.clear()
            return
        location = self.environment.variables["proxy_url" if step.get("to") == "proxy" else "server_url"]
        self.environment.proxy.add(Rule(
            fault=step["proxy"], call=step.get("of", "any"), times=step.get("times", 1), delay_s=seconds(step.get("delay", "0s")),
            location=location, **{name: step[name] for name in ("status", "code", "retry_after", "kind", "body") if name in step}))

    def seen(self, step):
        """The proxy may still be at work on the last request, so the count is polled."""
        def wrong():
            return mismatches(self.fill(step["count"]), len(self.environment.proxy.seen(step["seen"])), f"requests of `{step['seen']}`")
        found = until(min(SEEN_WITHIN_S, self.patience_s), wrong)
        if found:
            raise Failed("\n    ".join([*found, *(seen.line for seen in self.environment.proxy.seen("any"))]))
        requests = self.environment.proxy.seen(step["seen"])
        for earlier, later in zip(requests, requests[1:]):
            if later.at_s - earlier.at_s < seconds(step.get("apart", "0s")):
                raise Failed(f"expected {step['apart']} between two requests, and it was {later.at_s - earlier.at_s:.3f} s")
        for member in step.get("same", []):
            values = [seen.values(member) for seen in requests]
            if any(None in each or each != values[0] for each in values):
                raise Failed(f"expected the same `{member}` in each request, and it is {values}")
        for member in step.get("different", []):
            values = [value for seen in requests for value in seen.values(member)]
            if None in values or len(set(values)) != len(values):
                raise Failed(f"expected a `{member}` of its own in each request, and it is {values}")

    def http(self, step):
        last = None

        def wrong():
            nonlocal last
            status, last = self.environment.request(self.fill(step["http"]), self.fill(step.get("with")))
            wanted = step.get("status", 200)
            found = [f"expected the status {wanted}, and it is {status}: {shown(last)}"] if status != wanted else []
            return found or mismatches(self.fill(step.get("shows", {})), last, "response")
        found = until(min(seconds(step.get("until", "0s")), self.patience_s), wrong)
        if found:
            raise Failed("\n    ".join(found))
        self.keep(step, last)
