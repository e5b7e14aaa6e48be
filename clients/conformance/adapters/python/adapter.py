"""The adapter of the Python client, or with --async of AsyncClient and AsyncWorker: README.md of the scenarios, "The protocol"."""

import asyncio
import base64
import concurrent.futures
import datetime
import json
import logging
import pathlib
import re
import sys
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python" / "src"))
try:
    import duewheel  # noqa: E402
except ModuleNotFoundError as missing:
    sys.stderr.write(f"the adapter python needs the module {missing.name}\n")
    sys.exit(77)

FAMILIES = {duewheel.InvalidRequest: "invalid", duewheel.Unauthorized: "unauthorized", duewheel.NotFound: "not_found", duewheel.Conflict: "conflict",
            duewheel.Throttled: "throttled", duewheel.Unavailable: "unavailable"}
DURATIONS = {"delay", "within", "expires_in", "retry_in", "lease", "wait", "every", "misfire_window", "timeout", "first", "max", "after", "by", "for", "jitter"}
INSTANTS = {"due", "expires", "start", "end"}
UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
NAMED = {"queue", "schedule", "watchdog"}


def duration(text):
    sign = -1 if text.startswith("-") else 1
    return sign * sum((datetime.timedelta(**{UNITS[unit]: float(number)}) for number, unit in re.findall(r"([\d.]+)(ms|s|m|h|d)", text)),
                      datetime.timedelta())


def native(name, value):
    """Durations and instants as a user of the client writes them."""
    if isinstance(value, dict) and name not in ("headers", "json"):
        return {each: native(each, part) for each, part in value.items()}
    if isinstance(value, str) and name in DURATIONS:
        return duration(value)
    if isinstance(value, str) and name in INSTANTS:
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value


def data_of(members):
    """The content of a put, taken out of its members."""
    if "json" in members:
        return duewheel.Json(members.pop("json"))
    if "body_base64" in members:
        return base64.b64decode(members.pop("body_base64"))
    return members.pop("body")


class Flip:
    def __init__(self, name):
        self.name = name

    def encode(self, data):
        return bytes(byte ^ 0x5a for byte in data)

    def decode(self, data):
        flipped = self.encode(data)
        if 0xff in flipped:
            raise ValueError("0xff")
        return flipped


class Loop:
    """An event loop in a thread of its own. Clients and workers have one each, as in two processes."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(100))  # handlers of a worker that wait at once
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def finish(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()


class Awaiting:
    """An AsyncClient whose methods block, for the threads of the adapter."""

    loop = None

    def __init__(self, *arguments, **options):
        Awaiting.loop = Awaiting.loop or Loop()
        self.finish = self.loop.finish
        self.client = duewheel.AsyncClient(*arguments, **options)
        self.settings = self.client.settings

    def __getattr__(self, name):
        return lambda *arguments, **options: self.finish(getattr(self.client, name)(*arguments, **options))

    def list(self, *arguments, **options):
        async def collected():
            return [message async for message in self.client.list(*arguments, **options)]
        return self.finish(collected())


class AwaitingWorker:
    """An AsyncWorker whose handlers are coroutines, driven from the threads of the adapter."""

    def __init__(self, client, **options):
        self.loop = Loop()
        self.worker = duewheel.AsyncWorker(client, **options)

    def handler(self, *arguments, **options):
        def declare(function):
            async def handle(data, job):
                return await asyncio.to_thread(function, data, job)

            async def compute(data, job):  # in the loop itself, which it blocks
                return function(data, job)
            chosen = compute if function.__self__.outcomes == [{"compute": True}] else handle
            return self.worker.handler(*arguments, **options)(chosen)
        return declare

    def start(self):
        self.loop.finish(self.worker.start_here())

    def stop(self, timeout):
        self.loop.finish(self.worker.stop_here(timeout))


class Adapter:
    def __init__(self, client_class, worker_class):
        self.client_class, self.worker_class = client_class, worker_class
        self.clients, self.workers = {}, {}
        self.output = threading.Lock()

    def carry_out(self, do, name, members):
        if do == "hello":
            return {"name": "python", "capabilities": ["codec", "take", "versions", "workers"]}
        if do == "connect":
            if name == "client":
                self.end_workers()
            self.clients[name] = self.client_class(members["url"], token=members.get("token"), namespace=members.get("namespace"),
                                                   timeout=duration(members.get("timeout", "30s")), verify=members.get("ca", True),
                                                   codec=Flip(members["codec"]) if "codec" in members else None)
            return {}
        client = self.clients[name]
        method = getattr(self, f"do_{do}", None)
        if method:
            return method(client, {each: native(each, value) for each, value in members.items()})
        return self.named(client, do, members)

    def end_workers(self):
        """Those of the scenario before, whose handlers may wait for ever."""
        for work in self.workers.values():
            work.released.set()
            threading.Thread(target=work.worker.stop, args=(datetime.timedelta(),), daemon=True).start()
        self.workers = {}

    def do_put(self, client, members):
        return client.put(members.pop("queue"), data_of(members), **members).raw

    def do_put_many(self, client, members):
        puts = [{name: native(name, value) for name, value in each.items()} for each in members["messages"]]
        return results_of(client.put_many(members["queue"], [duewheel.Put(data_of(each), **each) for each in puts]))

    def do_lease(self, client, members):
        return {"messages": [lease.raw for lease in client.lease(members.pop("queue"), **members)]}

    def do_ack(self, client, members):
        return {"outcome": client.ack(members["lease_token"], members.get("result"))}

    def do_fail(self, client, members):
        return {"outcome": client.fail(members.pop("lease_token"), **members)}

    def do_extend(self, client, members):
        token, length = members.pop("lease_token"), members.pop("lease", None)
        return client.extend(token, length, **members)

    def do_release(self, client, members):
        return {"outcome": client.release(members.pop("lease_token"), **members)}

    def do_hold_leased(self, client, members):
        return {"outcome": client.hold_leased(members["lease_token"])}

    def do_get(self, client, members):
        return client.get(members.pop("id", None), **members).raw

    def do_cancel(self, client, members):
        return {"outcome": client.cancel(members.pop("id", None), **members), "attempts": 0, "maybe_delivered": False}

    def do_move(self, client, members):
        return client.move(members.pop("id", None), **members)

    def do_list(self, client, members):
        return {"messages": [message.raw for message in client.list(members.pop("queue"), **members)]}

    def do_set_schedule(self, client, members):
        return client.set_schedule(members.pop("schedule"), data_of(members), **members)

    def do_set_queue(self, client, members):
        return client.set_queue(members.pop("queue"), **members)

    def do_back_off_group(self, client, members):
        return client.back_off_group(members["queue"], members["group"], members["for"])

    def do_advance(self, client, members):
        client.advance(members["by"])
        return {"state": "test"}

    def do_work(self, client, members):
        """Starts a worker whose handler does, at the nth delivery of a message, the nth of `outcomes`, and then the last."""
        self.workers[members["worker"]] = Work(self.worker_class(client, name=members["worker"]), members)
        return {}

    def do_handled(self, client, members):
        return self.workers[members["worker"]].seen()

    def do_finish_work(self, client, members):
        self.workers[members["worker"]].released.set()
        return {}

    def do_stop_work(self, client, members):
        self.workers[members["worker"]].worker.stop(members.get("timeout"))
        return {}

    @staticmethod
    def named(client, do, members):
        """Calls that the client has no method of its own for go through Client.act(), many() and call()."""
        if do.endswith("_many"):
            length = {"lease": duration(members["lease"])} if "lease" in members else {}
            return results_of(client.many(members.pop("lease_tokens"), do.removesuffix("_many"), **{**members, **length}))
        if do in ("fire", "hold", "kick", "discard", "commit", "rollback"):
            return client.act(members["id"], do)
        verb, _, kind = do.partition("_")
        kind = kind or "queue"
        path = f"/{kind}s/{duewheel.calls.segment(members.pop(kind))}"
        methods = {"set": "PUT", "change": "PATCH", "get": "GET", "delete": "DELETE"}
        if verb in methods:
            return client.call(methods[verb], path, members if verb in ("set", "change") else None)
        if verb == "preview":
            return client.call("GET", f"{path}:preview", query=members)
        return client.call("POST", f"{path}:{verb}", members or None)

    def serve(self):
        for line in sys.stdin:
            threading.Thread(target=self.answer, args=(json.loads(line),), daemon=True).start()

    def answer(self, request):
        answer = {"id": request["id"]}
        try:
            answer["ok"] = self.carry_out(request["do"], request["client"], request["with"])
        except duewheel.DuewheelError as failure:
            answer["error"] = shown(failure)
        except Exception:
            answer["failed"] = traceback.format_exc()
        with self.output:
            print(json.dumps(answer), flush=True)


class Work:
    """A worker whose handler follows a script, and what it has seen."""

    def __init__(self, worker, members):
        self.lock = threading.Lock()
        self.handled, self.running = [], 0
        self.outcomes, self.released = members["outcomes"], threading.Event()
        self.worker = worker
        self.worker.handler(members["queue"], concurrency=members.get("concurrency", 1),
                            lease=members.get("lease", datetime.timedelta(seconds=30)))(self.handle)
        self.worker.start()

    def seen(self):
        with self.lock:
            return {"messages": list(self.handled), "running": self.running}

    def handle(self, data, job):
        with self.lock:
            nth = sum(each["id"] == job.id for each in self.handled)
            self.handled.append(entry := {"id": job.id, "data": data, "attempt": job.attempt, "group": job.group, "checkpoint": job.checkpoint, "cancelled": False})
            self.running += 1
        try:
            return self.follow(self.outcomes[min(nth, len(self.outcomes) - 1)], job, entry)
        finally:
            with self.lock:
                self.running -= 1

    def follow(self, outcome, job, entry):
        (verb, value), = outcome.items()
        if verb == "checkpoint":
            job.progress(0.5, checkpoint=value[0])
            return self.follow(value[1], job, entry)
        if verb == "return":
            return value
        if verb == "return_what_is_no_json":
            return object()
        if verb == "raise":
            raise RuntimeError(value)
        if verb == "retry":
            raise duewheel.Retry("again", after=duration(value))
        if verb == "snooze":
            raise duewheel.Snooze(duration(value))
        if verb == "dead":
            raise duewheel.Dead(value)
        if verb == "take":
            time.sleep(duration(value).total_seconds())
            return None
        if verb == "progress":
            job.progress(0.5, checkpoint=value)
        if verb == "compute":  # never gives up the processor by itself
            while not self.released.is_set():
                sum(range(1000))
            return None
        while not self.released.is_set():  # "wait", until it is let go or cancelled
            if job.cancelled.wait(0.01):
                with self.lock:
                    entry["cancelled"] = True
                if verb != "ignore_cancel":
                    raise RuntimeError("cancelled")
                self.released.wait()
        return value


def results_of(results):
    return {"results": [{"error": shown(each)} if isinstance(each, duewheel.DuewheelError) else getattr(each, "raw", each) for each in results]}


def shown(failure):
    members = {"family": FAMILIES[type(failure)], **{name: getattr(failure, name) for name in ("code", "field", "detail", "outcome")}}
    return {name: value for name, value in members.items() if value is not None}


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    (Adapter(Awaiting, AwaitingWorker) if "--async" in sys.argv else Adapter(duewheel.Client, duewheel.Worker)).serve()
