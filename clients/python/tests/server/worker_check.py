#!/usr/bin/env python3
"""Workers on a real server: what a program in Python adds to the conformance scenarios."""

import asyncio
import contextlib
import dataclasses
import importlib.util
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from datetime import timedelta

import duewheel
from duewheel.testing import Server

WITHIN = timedelta(seconds=30)
LATER = {"retry": {"first": timedelta(hours=1)}}
PROGRAM = """
import asyncio, os, sys, time
import duewheel

client = duewheel.Client(os.environ["DUEWHEEL_URL"])
worker = duewheel.Worker(client, stop_timeout=__import__("datetime").timedelta(seconds=20))

@worker.handler("shop", lease=__import__("datetime").timedelta(minutes=5))
def handle(data, job):
    print("begun", flush=True)
    while not os.path.exists(data):
        time.sleep(0.02)
    return "finished"

in_loop = duewheel.AsyncWorker(client)

@in_loop.handler("loop", lease=__import__("datetime").timedelta(minutes=5))
async def handle_in_loop(data, job):
    print("begun", flush=True)
    while not os.path.exists(data):
        await asyncio.sleep(0.02)
    return "finished"
"""


@dataclasses.dataclass
class Mail:
    to: str


class WorkerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.getLogger("duewheel").setLevel(logging.CRITICAL)  # failures are what is tested
        cls.server = Server()
        cls.server.__enter__()
        cls.client = cls.server.client

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def setUp(self):
        self.queue = self.id().rpartition(".")[2]
        self.worker = duewheel.Worker(self.client, stop_timeout=timedelta(seconds=2))

    def tearDown(self):
        if self.worker.started:
            self.worker.stop()

    def until(self, what, holds):
        deadline = time.monotonic() + WITHIN.total_seconds()
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def failure_of(self, function, data, type=None, **options):
        """The reason of the failure of a message that this handler gets."""
        self.worker.handler(self.queue, type=type)(function)
        self.worker.start()
        message = self.client.put(self.queue, data, **LATER, **options).id
        self.until("the failure", lambda: self.client.get(message).state == "retrying")
        return self.client.get(message).reason

    def test_data_that_does_not_fit_its_type_fails(self):
        reason = self.failure_of(lambda mail, job: None, {"to": 7}, type=Mail)
        self.assertIn("Mail.to is 7, and str is declared", reason)

    def test_an_unknown_kind_fails(self):
        reason = self.failure_of(lambda mail, job: None, {"to": "ann"}, type={"mail": Mail}, headers={"kind": "bill"})
        self.assertIn("no type is declared for the kind `bill`", reason)

    def test_a_result_that_is_too_large_fails(self):
        self.assertIn("the ack was refused: out_of_range", self.failure_of(lambda mail, job: "x" * 100_000, "large"))

    def test_what_a_handler_throws_does_not_end_the_worker(self):
        def handle(data, job):
            raise KeyboardInterrupt if data == "odd" else SystemExit(3)
        self.assertIn("KeyboardInterrupt", self.failure_of(handle, "odd"))
        message = self.client.put(self.queue, "other", **LATER).id
        self.until("the second failure", lambda: self.client.get(message).state == "retrying")

    def test_a_queue_has_one_handler_and_all_are_declared_before_the_start(self):
        self.worker.handler(self.queue)(print)
        with self.assertRaises(ValueError):
            self.worker.handler(self.queue)(print)
        self.worker.start()
        with self.assertRaises(RuntimeError):
            self.worker.handler("another")(print)

    # The queue was polled before its handlers had begun. A message that came at once ended the thread, and was leased for ever.
    def test_a_message_that_comes_while_the_worker_starts_is_handled(self):
        message, spawn = self.client.put(self.queue, "x").id, duewheel.worker.spawn

        def begin(target, *arguments):
            thread = spawn(target, *arguments)
            if target == self.worker.poll:
                self.until("the lease", lambda: self.client.get(message).state != "ready")
            return thread
        self.worker.handler(self.queue)(lambda data, job: None)
        with unittest.mock.patch("duewheel.worker.spawn", begin):
            self.worker.start()
        self.assertEqual(self.client.wait(message, WITHIN).state, "done")

    def test_progress_is_shown_long_before_the_next_heartbeat(self):
        done = threading.Event()

        def handle(data, job):
            job.progress(0.5, checkpoint={"page": 7})
            done.wait()
        self.worker.handler(self.queue, lease=timedelta(hours=1))(handle)
        self.worker.start()
        message = self.client.put(self.queue, "x").id
        self.until("the progress", lambda: self.client.get(message).progress == 0.5)
        self.assertEqual(self.client.get(message).checkpoint, {"page": 7})
        done.set()
        self.assertEqual(self.client.wait(message, WITHIN).state, "done")

    def test_a_context_is_around_each_handler_and_sees_what_it_raises(self):
        seen = []

        @self.worker.around
        @contextlib.contextmanager
        def watch(job):
            try:
                yield
                seen.append("done")
            except ZeroDivisionError:
                seen.append("failed")
                raise
        self.worker.handler(self.queue)(lambda data, job: 1 // data)

        @self.worker.handler(f"{self.queue}-loop")
        async def handle(data, job):
            return 1 // data
        self.worker.start()
        for queue in (self.queue, f"{self.queue}-loop"):
            self.assertEqual(self.client.wait(self.client.put(queue, 1).id, WITHIN).result, 1)
            message = self.client.put(queue, 0, **LATER).id
            self.until("the failure", lambda: self.client.get(message).state == "retrying")
        self.assertEqual(seen, ["done", "failed"] * 2)

    @unittest.skipUnless(importlib.util.find_spec("opentelemetry.sdk") if importlib.util.find_spec("opentelemetry") else None,
                         "the package opentelemetry-sdk is not installed")
    def test_spans_of_puts_and_handlers_are_linked_and_workers_are_measured(self):
        from opentelemetry import metrics, trace
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        import duewheel.opentelemetry
        exporter, reader, provider = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
        metrics.set_meter_provider(MeterProvider([reader]))
        producer = duewheel.Client(self.server.url)
        duewheel.opentelemetry.instrument(producer)
        duewheel.opentelemetry.instrument(self.worker)
        active = []

        @self.worker.handler(self.queue)
        def handle(data, job):
            active.append(trace.get_current_span().get_span_context().span_id)
            if data == "bad":
                raise ValueError("it is bad")
            if data == "later":
                raise duewheel.Snooze(timedelta(days=1))

        @self.worker.handler(f"{self.queue}-loop")
        async def handle_in_loop(data, job):
            active.append(trace.get_current_span().get_span_context().span_id)
        put = {data: producer.put(self.queue, data, **LATER).id for data in ("good", "bad", "later")}
        first, second = producer.put_many(f"{self.queue}-loop", [duewheel.Put("one"), duewheel.Put("two")])
        plain = self.client.put(self.queue, "plain").id
        self.worker.start()
        self.until("the spans of six handlers", lambda: len(exporter.get_finished_spans()) == 10)
        spans = exporter.get_finished_spans()
        sent = [span for span in spans if span.kind == trace.SpanKind.PRODUCER]
        handled = {span.attributes["messaging.message.id"]: span for span in spans if span.kind == trace.SpanKind.CONSUMER}
        self.assertEqual({span.name for span in spans}, {f"{verb} {queue}" for verb in ("send", "process") for queue in (self.queue, f"{self.queue}-loop")})
        by_id = {span.attributes.get("messaging.message.id"): span.context for span in sent}
        by_id[first.id] = by_id[second.id] = by_id.pop(None)
        for message, span in handled.items():
            self.assertIsNone(span.parent)
            self.assertEqual([link.context.span_id for link in span.links], [by_id[message].span_id] if message != plain else [])
        self.assertEqual({message for message, span in handled.items() if not span.status.is_ok and span.status.description}, {put["bad"]})
        self.assertCountEqual(active, [span.context.span_id for span in handled.values()])
        measured = {metric.name: metric.data.data_points for scope in reader.get_metrics_data().resource_metrics[0].scope_metrics for metric in scope.metrics}
        outcomes = {point.attributes["duewheel.outcome"]: point.count for point in measured["messaging.process.duration"]
                    if point.attributes["messaging.destination.name"] == self.queue}
        self.assertEqual(outcomes, {"done": 2, "failed": 1, "snooze": 1})
        self.assertEqual({point.value for point in measured["duewheel.worker.busy"]}, {0})
        self.assertEqual(sum(point.count for point in measured["duewheel.worker.lateness"]), 6)

    def test_a_context_is_around_each_put_and_sees_its_answer(self):
        answers = []

        @contextlib.contextmanager
        def watch(put):
            put.fields["traceparent"] = f"00-{'a' * 32}-{'b' * 16}-01"
            yield
            answers.append((put.queue, put.answer))

        async def program():
            async with duewheel.AsyncClient(self.server.url) as client:
                client.around_put(watch)
                return await client.put_many(self.queue, [duewheel.Put("x"), duewheel.Put("y")])
        with duewheel.Client(self.server.url) as client:
            client.around_put(watch)
            receipt = client.put(self.queue, "z")
        receipts = asyncio.run(program())
        self.assertEqual(answers, [(self.queue, receipt), (self.queue, receipts)])
        for each in (receipt, *receipts):
            self.assertEqual(self.client.get(each.id).traceparent, f"00-{'a' * 32}-{'b' * 16}-01")

    def test_many_outcomes_are_few_requests(self):
        sent, many = [], self.worker.client.many
        self.worker.client.many = lambda leases, verb, **options: (sent.append((verb, len(leases))), many(leases, verb, **options))[1]
        self.client.put_many(self.queue, [duewheel.Put(str(number)) for number in range(500)])

        @self.worker.handler(self.queue, concurrency=100)
        async def handle(data, job):
            pass
        self.worker.start()
        self.until("the end", lambda: not list(self.client.list(self.queue)))
        acks = [count for verb, count in sent if verb == "ack"]
        self.assertEqual(sum(acks), 500)
        self.assertLess(len(acks), 100)

    def test_a_schedule_is_put_once_by_all_workers(self):
        other, runs = duewheel.Worker(self.client), []
        for worker in (self.worker, other):
            worker.schedule("0 9 * * *", name=self.queue, zone="Europe/Berlin", data="morning")(lambda data, job: runs.append(data))
            worker.start()
        self.server.advance(timedelta(days=2))
        self.server.run_until_idle(self.queue)
        other.stop()
        self.assertIn(len(runs), (1, 2))  # by default one for all that were missed: two if a run was due between the steps

    def test_a_checker_decides_what_became_of_a_transaction(self):
        self.worker.checker(f"{self.queue}-checks")(lambda order, job: {"paid": True, "failed": False}.get(order))
        self.worker.start()
        ids = {order: self.client.put(self.queue, order, transaction={"check_back": {"queue": f"{self.queue}-checks", "after": timedelta(minutes=1)}}).id
               for order in ("paid", "failed")}
        self.server.advance(timedelta(minutes=2))
        self.until("the commit", lambda: self.client.get(ids["paid"]).state == "ready")
        self.until("the rollback", lambda: self.client.get(ids["failed"]).state == "cancelled")

    def test_a_transaction_follows_its_block(self):
        with self.client.transaction(self.queue, "kept", after=timedelta(minutes=1)) as kept:
            self.assertEqual(kept.state, "prepared")
        with self.assertRaises(ZeroDivisionError):
            with self.client.transaction(self.queue, "dropped", after=timedelta(minutes=1)) as dropped:
                raise ZeroDivisionError
        self.assertEqual([self.client.get(each.id).state for each in (kept, dropped)], ["ready", "cancelled"])

    def test_asyncio_has_the_same(self):
        async def program():
            async with duewheel.AsyncClient(self.server.url) as client:
                async with client.transaction(self.queue, "kept", after=timedelta(minutes=1)) as kept:
                    pass
                worker = duewheel.AsyncWorker(client)

                @worker.handler(self.queue)
                async def handle(data, job):
                    return data.upper()
                running = asyncio.create_task(worker.run())
                message = await client.wait(kept.id, WITHIN)
                running.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await running
                return message.result, [each.id async for each in client.list(self.queue)]
        self.assertEqual(asyncio.run(program()), ("KEPT", []))

    def read_until(self, process, words):
        for line in process.stdout:
            if words in line:
                return
        self.fail(f"the worker ended and did not print `{words}`")

    def stopped(self, name, queue, signals):
        """The exit code of `duewheel-worker` that is stopped while it handles a message, and the message afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "shop.py").write_text(PROGRAM)
            gate = pathlib.Path(folder, "gate")
            message = self.client.put(queue, str(gate), retry={"attempts": 1}).id
            process = subprocess.Popen([sys.executable, "-m", "duewheel.run_worker", f"shop:{name}"], cwd=folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, env=dict(os.environ, DUEWHEEL_URL=self.server.url))
            self.read_until(process, "begun")
            process.send_signal(signal.SIGTERM)
            self.read_until(process, "the worker stops")  # two signals at once may be one
            if signals == 2:
                process.send_signal(signal.SIGTERM)
            else:
                gate.touch()
            code = process.wait(timeout=60)
            process.stdout.close()
            return code, self.client.get(message)

    def test_a_signal_lets_handlers_finish(self):
        for name, queue in (("worker", "shop"), ("in_loop", "loop")):
            code, message = self.stopped(name, queue, signals=1)
            self.assertEqual((code, message.state, message.result), (0, "done", "finished"), name)

    def test_a_second_signal_returns_what_is_left(self):
        for name, queue in (("worker", "shop"), ("in_loop", "loop")):
            began = time.monotonic()
            code, message = self.stopped(name, queue, signals=2)
            self.assertEqual((code, message.state), (0, "ready"), name)
            self.assertLess(time.monotonic() - began, 15)
            self.client.cancel(message.id)


if __name__ == "__main__":
    unittest.main()
