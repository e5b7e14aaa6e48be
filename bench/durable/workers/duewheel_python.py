"""One process that puts COUNT messages and handles them, with Duewheel's client for Python: URL COUNT CONCURRENCY."""

import sys
import time

import duewheel
from ledger import BATCH, Ledger, payload

url, count, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ledger = Ledger(count)
client = duewheel.Client(url)
worker = duewheel.Worker(client)


@worker.handler("jobs", concurrency=concurrency)
async def handle(data, job):
    ledger.handled(data["n"])


worker.start()
start = time.monotonic()
for first in range(0, count, BATCH):
    client.put_many("jobs", [duewheel.Put(payload(n)) for n in range(first, min(first + BATCH, count))])
put = time.monotonic()
ledger.wait()
worker.stop()  # when all is acknowledged
ledger.report(put - start, time.monotonic() - start)
