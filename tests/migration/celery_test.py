"""The page docs/migration/celery.md: Celery on Redis has scheduled a task, it is moved, and Celery on this server runs it."""

import pathlib
import tempfile
import unittest

import pages

PYTHON = pages.client_python("celery", "redis")
pages.skip_without("redis-server")

from daemon import Daemon  # noqa: E402  needs the programs of the server


class Celery(unittest.TestCase):
    def test_what_celery_has_scheduled_on_redis_runs_here(self):
        with tempfile.TemporaryDirectory() as name, Daemon(arguments=["--test-clock"]) as daemon:
            self.place = pathlib.Path(name)
            self.workers = pages.Workers(self.place)
            try:
                self.check(daemon)
            finally:
                self.workers.kill()

    def start_worker(self, program):
        return self.workers.start(PYTHON, "-m", "celery", "-A", program, "worker", "--pool", "solo", "--without-mingle", "--without-gossip",
                                  "--loglevel", "INFO", cwd=self.place, environment=pages.CLIENT)

    def send(self, program, call):
        pages.run(PYTHON, "-c", f"from {program} import remind; {call}", cwd=self.place, environment=pages.CLIENT)

    def until_logged(self, line, count=1):
        pages.until(line, lambda: self.workers.log().count(line) >= count, self.workers.log)

    def check(self, daemon):
        daemon.start()
        client = daemon.client()
        redis = pages.start_redis(self.workers, self.place)
        pages.write_files("celery", "python", self.place, {"redis://127.0.0.1:6379/0": f"redis+socket://{redis}",
                                                           "duewheel://127.0.0.1:7420": f"duewheel://127.0.0.1:{daemon.port}"})
        before = self.start_worker("before")
        self.send("before", "remind.apply_async(['ann'], countdown=3 * 24 * 3600); remind.delay('ben')")
        self.until_logged("reminded ben")
        before.terminate()
        before.wait(pages.WITHIN_S)
        self.start_worker("after")
        for _ in range(2):
            pages.run(PYTHON, "move_tasks.py", f"redis+socket://{redis}", f"duewheel://127.0.0.1:{daemon.port}", "celery", cwd=self.place,
                      environment=pages.CLIENT)
            self.assertEqual(client.request("GET", "/v1/queues/celery")[1]["scheduled"], 1)
        self.send("after", "remind.delay('cleo').get(timeout=60)")
        self.assertNotIn("reminded ann", self.workers.log())
        client.advance(by="3d1m")
        self.until_logged("reminded ann")
        pages.until("the end", lambda: client.request("GET", "/v1/queues/celery")[1]["pending"] == 0, self.workers.log)


if __name__ == "__main__":
    unittest.main(verbosity=2)
