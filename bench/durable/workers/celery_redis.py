"""The same with Celery on Redis: PORT COUNT CONCURRENCY. Messages are acknowledged when they are handled, as with Duewheel. Another
process puts them, because Celery's worker needs its own."""

import concurrent.futures
import multiprocessing
import os
import signal
import sys
import threading
import time

import celery
from ledger import Ledger, payload

PRODUCERS = 16
port, count, concurrency = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ledger = Ledger(count)
app = celery.Celery("jobs", broker=f"redis://127.0.0.1:{port}/0", set_as_current=True)
app.conf.update(task_acks_late=True, task_ignore_result=True, worker_redirect_stdouts=False)


@app.task(name="handle")
def handle(data):
    ledger.handled(data["n"])


def put_all():
    with concurrent.futures.ThreadPoolExecutor(PRODUCERS) as producers:  # it has no batches
        for _ in producers.map(lambda n: handle.delay(payload(n)), range(count)):
            pass


def measure():
    start = time.monotonic()
    producer = multiprocessing.get_context("fork").Process(target=put_all)
    producer.start()
    producer.join()
    put = time.monotonic()
    ledger.wait()
    end = time.monotonic()
    ledger.report(put - start, end - start)
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)


celery.signals.worker_ready.connect(lambda **_: threading.Thread(target=measure).start(), weak=False)
app.worker_main(["worker", "--pool", "threads", "--concurrency", concurrency, "--loglevel", "error", "--without-gossip", "--without-mingle"])
