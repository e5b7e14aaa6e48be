"""The adapter of the plain HTTP client: README.md of the conformance scenarios, "The protocol"."""

import argparse
import json
import re
import sys
import threading
import traceback

import broken
from client import CallFailed, Client, quoted

# Calls that are one request: the method, and the path with members that move into it.
REQUESTS = {
    "lease": "POST /queues/{queue}:lease", "redrive": "POST /queues/{queue}:redrive",
    **{call: f"POST /leases/{{lease_token}}:{call.removesuffix('_leased')}" for call in ("ack", "fail", "extend", "release", "hold_leased")},
    **{call: f"POST /messages/{{id}}:{call}" for call in ("fire", "hold", "kick", "discard", "commit", "rollback")},
    "get": "GET /messages/{id}", "cancel": "DELETE /messages/{id}", "move": "PATCH /messages/{id}",
    **{f"{call}_queue": f"POST /queues/{{queue}}:{call}" for call in ("pause", "resume", "purge")},
    **{f"{call}_schedule": f"POST /schedules/{{schedule}}:{call}" for call in ("pause", "resume", "fire")},
    **{f"{call}_{kind}": f"{method} /{kind}s/{{{kind}}}" for kind in ("queue", "schedule", "watchdog")
       for call, method in (("set", "PUT"), ("change", "PATCH"), ("get", "GET"), ("delete", "DELETE"))},
    "back_off_group": "POST /queues/{queue}/groups/{group}:backoff",
    "preview_schedule": "GET /schedules/{schedule}:preview", "feed_watchdog": "POST /watchdogs/{watchdog}:feed",
    "advance": "POST /clock:advance",
}
MANY = {f"{call}_many": call for call in ("ack", "fail", "extend", "release")}
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def seconds(text):
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+)(ms|s|m|h)", text or ""))


class Adapter:
    """Carries out requests with one client for each name that a request connects."""

    def __init__(self, client_class):
        self.client_class, self.clients = client_class, {}
        self.output = threading.Lock()

    def carry_out(self, do, name, members):
        if do == "hello":
            return {"name": "http", "capabilities": ["versions"]}
        if do == "connect":
            self.clients[name] = self.client_class(members["url"], members.get("token"), seconds(members.get("timeout", "30s")),
                                                   members.get("ca"), members.get("namespace"))
            return {}
        client = self.clients[name]
        if do == "put":
            return client.put(members.pop("queue"), members)
        if do == "put_many":
            return results_of(client.put_many(members["queue"], members["messages"]))
        if do in MANY:
            answer = client.call("POST", f"/leases:{MANY[do]}", {"leases": members.pop("lease_tokens"), **members})
            return results_of(map(client.result_of, answer["results"]))
        if do == "list":
            return self.list(client, members)
        return self.request(client, do, members)

    @staticmethod
    def list(client, members):
        """All pages; `page` is the size of one."""
        path = f"/queues/{quoted(members.pop('queue'))}/messages"
        members["limit"] = members.pop("page", 100)
        messages = []
        while True:
            page = client.call("GET", path + query(members))
            messages += page["messages"]
            if "cursor" not in page:
                return {"messages": messages}
            members["cursor"] = page["cursor"]

    @staticmethod
    def request(client, do, members):
        method, path = REQUESTS[do].split(" ")
        if "{id}" in path and "id" not in members:
            path = "/messages?" + "&".join(f"{name}={quoted(members.pop(name))}" for name in ("queue", "key"))
        path = re.sub(r"\{(\w+)\}", lambda match: client.quoted(members.pop(match[1])), path)
        wait_s = seconds(members.get("wait"))
        if method in ("GET", "DELETE"):
            return client.call(method, path + query(members, "&" if "?" in path else "?"), None, wait_s)
        return client.call(method, path, members or None, wait_s)

    def serve(self):
        """Each request has a thread of its own, so that a call that waits does not hold up others."""
        for line in sys.stdin:
            threading.Thread(target=self.answer, args=(json.loads(line),), daemon=True).start()

    def answer(self, request):
        answer = {"id": request["id"]}
        try:
            answer["ok"] = self.carry_out(request["do"], request["client"], request["with"])
        except CallFailed as failure:
            answer["error"] = shown(failure)
        except Exception:  # a bug of the client or the adapter, which fails the scenario
            answer["failed"] = traceback.format_exc()
        with self.output:
            print(json.dumps(answer), flush=True)


def query(members, first="?"):
    words = [f"{name}={quoted(str(value).lower() if isinstance(value, bool) else str(value))}" for name, value in members.items()]
    return first + "&".join(words) if words else ""


def results_of(results):
    return {"results": [{"error": shown(each)} if isinstance(each, CallFailed) else each for each in results]}


def shown(failure):
    members = {name: getattr(failure, name) for name in ("family", "code", "field", "detail", "outcome")}
    return {name: value for name, value in members.items() if value is not None}


class SilentAdapter(Adapter):
    """Does nothing, and says that it can do everything and that all went well."""

    def carry_out(self, do, name, members):
        return {"name": "silent", "capabilities": ["codec", "versions", "workers"]} if do == "hello" else {}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--broken", choices=list(broken.BREAKAGES), help="break the client in this way, to see that scenarios fail")
    chosen = parser.parse_args().broken
    (SilentAdapter if chosen == "silent" else Adapter)(broken.BREAKAGES[chosen][0] if chosen else Client).serve()
