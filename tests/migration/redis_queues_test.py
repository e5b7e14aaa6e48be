"""The page docs/migration/redis_queues.md: a sorted set in Redis has jobs, they are moved, and the program with our client handles them."""

import json
import time
import unittest

import pages

PYTHON = pages.client_python("httpx", "redis")
pages.skip_without("redis-server")

from shop import Shop  # noqa: E402  needs the programs of the server

# As Sidekiq 7 writes a job of its set `retry`.
SIDEKIQ = {"retry": True, "queue": "reminders", "class": "RemindJob", "args": ["dora"], "jid": "b4a577edbccf1d805744efa9",
           "created_at": 1798783200000, "retry_count": 0, "error_message": "no connection"}


class RedisQueues(Shop):
    def start(self, program):
        return self.workers.start(PYTHON, program, cwd=self.place, environment=pages.CLIENT)

    def python(self, *words):
        return pages.run(PYTHON, *words, cwd=self.place, environment=pages.CLIENT)

    def test_what_waits_in_sorted_sets_is_moved_once_and_handled(self):
        redis = f"unix://{pages.start_redis(self.workers, self.place)}"
        pages.write_files("redis_queues", "python", self.place, {"redis://127.0.0.1:6379/0": redis, "127.0.0.1:7420": self.address})
        before = self.start("before.py")
        self.until_logged("ben\n")
        before.kill()
        self.python("-c", f"from before import store; store.zadd('retry', {{{json.dumps(json.dumps(SIDEKIQ))}: {time.time() + 3600}}})")
        self.python("-c", "from before import store; store.copy('schedule', 'kept')")
        for name in ("schedule", "retry", "kept"):  # the last one as after a death between the put and the end of the job
            self.python("move_jobs.py", name)
        self.until_counted("reminders", scheduled=2)
        self.start("after.py")
        self.until_counted("reminders", scheduled=3, waiters=1)
        self.client.advance(by="2h")
        self.until_logged("dora\n")
        self.client.advance(by="3d")
        self.until_logged("ann\n", "cleo\n")
        self.until_counted("reminders", pending=0)
        self.assertEqual(self.workers.log().splitlines().count("ann"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
