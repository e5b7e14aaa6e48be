#!/usr/bin/env python3
"""Celery itself with the transport and the result backend of this client, on a real server whose clock is moved."""

import datetime
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import celery
import celery.exceptions

from duewheel.testing import Server

HERE = pathlib.Path(__file__).resolve().parent
WITHIN_S = 60
MONTH = datetime.timedelta(days=30)


class CeleryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.directory.name)
        cls.server = Server()
        cls.server.__enter__()
        os.environ.update(DUEWHEEL_URL=cls.server.url, SHOP_NOTES=str(cls.place / "notes"))
        sys.path.insert(0, str(HERE))
        import shop
        cls.shop, cls.worker = shop, None
        cls.start_worker()

    @classmethod
    def tearDownClass(cls):
        cls.kill_worker()
        cls.shop.app.close()
        cls.server.__exit__()
        cls.directory.cleanup()

    @classmethod
    def start_worker(cls):
        with open(cls.place / "worker.log", "ab") as log:
            cls.worker = subprocess.Popen([sys.executable, "-m", "celery", "-A", "shop", "worker", "--concurrency", "2", "--loglevel", "INFO"],
                                          cwd=HERE, stdout=log, stderr=log, start_new_session=True)

    @classmethod
    def kill_worker(cls):
        os.killpg(cls.worker.pid, signal.SIGKILL)
        cls.worker.wait()

    def until(self, what, holds):
        deadline = time.monotonic() + WITHIN_S
        while not holds():
            if time.monotonic() > deadline:
                self.fail(f"{what} did not happen\n{(self.place / 'worker.log').read_text()[-3000:]}")
            time.sleep(0.05)

    def notes(self):
        path = self.place / "notes"
        return path.read_text().splitlines() if path.exists() else []

    def scheduled(self):
        """The messages of the queue `celery` that wait for their time."""
        return len(list(self.server.client.list("celery", state="scheduled")))

    def test_a_task_has_a_result(self):
        self.assertEqual(self.shop.add.delay(2, 3).get(timeout=WITHIN_S), 5)

    def test_a_failure_is_raised_where_its_result_is_asked_for(self):
        with self.assertRaisesRegex(ValueError, "no such customer"):
            self.shop.failing.delay().get(timeout=WITHIN_S)

    def test_groups_and_chords_have_results(self):
        add, total = self.shop.add, self.shop.total
        self.assertEqual(celery.group(add.s(1, 1), add.s(2, 2))().get(timeout=WITHIN_S), [2, 4])
        self.assertEqual(celery.chord([add.s(1, 1), add.s(2, 2)])(total.s()).get(timeout=WITHIN_S), 6)

    def test_an_expired_task_is_revoked_by_its_worker(self):
        result = self.shop.add.apply_async((30, 3), expires=datetime.datetime.now(datetime.timezone.utc) - MONTH)  # the worker has its own clock
        with self.assertRaises(celery.exceptions.TaskRevokedError):
            result.get(timeout=WITHIN_S)

    def test_a_task_is_retried(self):
        self.assertEqual(self.shop.retried.delay().get(timeout=WITHIN_S), "at last")
        self.assertEqual([line for line in self.notes() if line.startswith("try")], ["try 0", "try 1", "try 2"])

    def test_a_task_of_a_month_waits_in_the_server(self):
        result = self.shop.add.apply_async((10, 1), eta=self.server.now() + MONTH)
        self.shop.add.delay(0, 0).get(timeout=WITHIN_S)  # the worker has looked at the queue meanwhile
        self.assertEqual(self.scheduled(), 1)
        self.server.advance(MONTH)
        self.assertEqual(result.get(timeout=WITHIN_S), 11)

    def test_a_revoked_task_never_runs(self):
        result = self.shop.add.apply_async((20, 2), eta=self.server.now() + MONTH)
        self.assertEqual(self.scheduled(), 1)
        result.revoke()
        self.until("the cancel of the message", lambda: self.scheduled() == 0)
        self.server.wait_until("no message is leased", lambda: self.server.client.call("GET", "/stats")["leased"])  # such as the revoke itself
        self.kill_worker()  # which forgets what was revoked
        self.start_worker()
        self.server.advance(MONTH + datetime.timedelta(hours=1))
        self.shop.add.delay(20, 3).get(timeout=WITHIN_S)
        self.assertNotIn("add 20 2", self.notes())

    def test_a_task_whose_worker_was_killed_runs_again(self):
        gate = self.place / "gate"
        result = self.shop.slow.delay(str(gate))
        self.until("the first run", lambda: self.notes().count("slow begins") == 1)
        self.kill_worker()
        self.server.client.advance(datetime.timedelta(minutes=1))  # its lease ends
        self.start_worker()
        self.until("the second run", lambda: self.notes().count("slow begins") == 2)
        gate.touch()
        self.assertEqual(result.get(timeout=WITHIN_S), "slow")
        self.assertEqual(self.notes().count("slow ends"), 1)

    def test_the_worker_can_be_asked_what_it_does(self):
        self.until("an answer", lambda: self.shop.app.control.ping(timeout=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
