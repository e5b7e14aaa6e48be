"""The program of Celery that celery_check.py runs: its tasks write what they do into a file."""

import os
import time

from celery import Celery

import duewheel.celery  # noqa: F401  registers duewheel://

URL = os.environ["DUEWHEEL_URL"].replace("http://", "duewheel://")
app = Celery("shop", broker=URL, backend=URL)
app.conf.broker_connection_retry_on_startup = True


def note(line):
    with open(os.environ["SHOP_NOTES"], "a", encoding="utf-8") as file:
        file.write(line + "\n")


@app.task
def add(a, b):
    note(f"add {a} {b}")
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=3)
def retried(self):
    note(f"try {self.request.retries}")
    if self.request.retries < 2:
        raise self.retry(countdown=0)
    return "at last"


@app.task
def failing():
    raise ValueError("no such customer")


@app.task(acks_late=True)
def slow(path):
    note("slow begins")
    while not os.path.exists(path):
        time.sleep(0.05)
    note("slow ends")
    return "slow"
