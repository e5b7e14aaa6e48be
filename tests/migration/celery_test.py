"""The page docs/migration/celery.md: Celery on Redis has scheduled a task, it is moved, and Celery on this server runs it."""

import unittest

import pages

PYTHON = pages.client_python("celery", "redis")
pages.skip_without("redis-server")

from shop import Shop  # noqa: E402  needs the programs of the server


class Celery(Shop):
    def start_worker(self, program):
        return self.workers.start(PYTHON, "-m", "celery", "-A", program, "worker", "--pool", "solo", "--without-mingle", "--without-gossip",
                                  "--loglevel", "INFO", cwd=self.place, environment=pages.CLIENT)

    def python(self, *words):
        pages.run(PYTHON, *words, cwd=self.place, environment=pages.CLIENT)

    def test_what_celery_has_scheduled_on_redis_runs_here(self):
        redis, server = f"redis+socket://{pages.start_redis(self.workers, self.place)}", f"duewheel://{self.address}"
        pages.write_files("celery", "python", self.place, {"redis://127.0.0.1:6379/0": redis, "duewheel://127.0.0.1:7420": server})
        before = self.start_worker("before")
        self.python("-c", "from before import remind; remind.apply_async(['ann'], countdown=3 * 24 * 3600); remind.delay('ben')")
        self.until_logged("reminded ben")
        before.terminate()
        before.wait(pages.WITHIN_S)
        self.start_worker("after")
        for _ in range(2):
            self.python("move_tasks.py", redis, server, "celery")
            self.until_counted("celery", scheduled=1)
        self.python("-c", "from after import remind; remind.delay('cleo').get(timeout=60)")
        self.assertNotIn("reminded ann", self.workers.log())
        self.client.advance(by="3d1m")
        self.until_logged("reminded ann")
        self.until_counted("celery", pending=0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
