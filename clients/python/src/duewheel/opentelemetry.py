"""OpenTelemetry for clients and workers: a span for each put, a span for each handler that is linked to it, also in another process
and days later, and metrics of workers. It needs the package opentelemetry-api.

    duewheel.opentelemetry.instrument(client)
    duewheel.opentelemetry.instrument(worker)
"""

from __future__ import annotations

import contextlib
import time
from typing import Iterator, Union

from opentelemetry import metrics, propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, Status, StatusCode

from .around import Outgoing
from .client import AsyncClient, Client
from .handling import Dead, Job, Retry, Snooze
from .messages import Receipt
from .worker import Worker

NAME = "duewheel"


def instrument(target: Union[Client, AsyncClient, Worker]) -> None:
    """To be called once for each client and worker, before they are used, with the providers that OpenTelemetry has then."""
    if isinstance(target, Worker):
        target.around(Handlers().around)
    else:
        target.around_put(around_put)


@contextlib.contextmanager
def around_put(put: Outgoing) -> Iterator[None]:
    """A producer span. Messages of a batch have one, whose context the server stores with each of them."""
    with trace.get_tracer(NAME).start_as_current_span(f"send {put.queue}", kind=SpanKind.PRODUCER, attributes=attributes_of("send", put.queue)) as span:
        propagate.inject(put.fields)
        yield
        if isinstance(put.answer, Receipt):
            span.set_attribute("messaging.message.id", put.answer.id)
        elif put.answer is not None:
            span.set_attribute("messaging.batch.message_count", len(put.answer))


class Handlers:
    """The spans and the metrics of a worker."""

    def __init__(self) -> None:
        self.tracer, meter = trace.get_tracer(NAME), metrics.get_meter(NAME)
        self.busy = meter.create_up_down_counter("duewheel.worker.busy", "{message}", "Messages that handlers work on")
        self.lateness = meter.create_histogram("duewheel.worker.lateness", "s", "How late the server delivered messages")
        self.duration = meter.create_histogram("messaging.process.duration", "s", "How long handlers worked")

    @contextlib.contextmanager
    def around(self, job: Job) -> Iterator[None]:
        queue, began_s, outcome = job.lease.queue, time.monotonic(), "done"
        measured = {"messaging.destination.name": queue}
        self.busy.add(1, measured)
        self.lateness.record(job.lateness.total_seconds(), measured)
        attributes = {**attributes_of("process", queue), "messaging.message.id": job.id, "duewheel.attempt": job.attempt}
        put = trace.get_current_span(propagate.extract({"traceparent": job.lease.traceparent or ""}, Context())).get_span_context()
        with self.tracer.start_as_current_span(f"process {queue}", Context(), SpanKind.CONSUMER, attributes, [trace.Link(put)] if put.is_valid else [],
                                               record_exception=False, set_status_on_exception=False) as span:
            try:
                yield
            except BaseException as error:
                outcome = outcome_of(error)
                if outcome in ("dead", "failed"):
                    span.record_exception(error)
                    span.set_status(Status(StatusCode.ERROR, str(error)))
                raise
            finally:
                self.busy.add(-1, measured)
                self.duration.record(time.monotonic() - began_s, {**measured, "duewheel.outcome": outcome})


def outcome_of(error: BaseException) -> str:
    return {Retry: "retry", Snooze: "snooze", Dead: "dead"}.get(type(error), "failed")


def attributes_of(operation: str, queue: str) -> dict[str, Union[str, int]]:
    return {"messaging.system": NAME, "messaging.operation.type": operation, "messaging.destination.name": queue}
