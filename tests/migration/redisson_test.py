"""The page docs/migration/redisson.md: its program with the Java client, and the elements of a RDelayedQueue that become messages."""

import unittest

import pages

PYTHON = pages.client_python("httpx", "redis")
pages.skip_without("redis-server")
PATH = pages.java_path()

from shop import Shop  # noqa: E402  needs the programs of the server

# Two elements with the same content, as Redisson 3.21.1 and later writes them: in a sorted set by due time, and in a list.
OFFER = """
import redis
store = redis.Redis.from_url("redis://127.0.0.1:6379/0")
pack = "return struct.pack('Bc0Lc0', string.len(ARGV[1]), ARGV[1], string.len(ARGV[2]), ARGV[2])"
for id in (b"\\x00\\xff234567", b"12345678"):
    entry = store.eval(pack, 0, id, '{"number":9}')
    store.zadd("redisson_delay_queue_timeout:{shop}", {entry: 2524608000123})
    store.rpush("redisson_delay_queue:{shop}", entry)
store.copy("redisson_delay_queue_timeout:{shop}", "kept")
"""
MOVE_AGAIN = """
import sys
sys.argv[1:] = ["shop"]
import move_delayed
move_delayed.store.copy("kept", move_delayed.times)
exec(open("move_delayed.py").read())
assert not store.exists(times, elements)
"""


class Redisson(Shop):
    def test_the_program_of_the_page(self):
        path = pages.compile_java("redisson", self.place, PATH, {"127.0.0.1:7420": self.address})
        self.workers.start("java", "-cp", path, "Orders", cwd=self.place)
        self.until_counted("order-timeouts", scheduled=1, waiters=1)
        self.assertEqual(self.counts("order-timeouts")["settings"]["groups"], {"leased": 1})
        self.client.advance(by="30m")
        self.until_logged("closed order 7")
        self.until_counted("order-timeouts", pending=0)

    def test_what_waits_in_a_delayed_queue_is_moved_once(self):
        redis = {"redis://127.0.0.1:6379/0": f"unix://{pages.start_redis(self.workers, self.place)}"}
        pages.write_files("redisson", "python", self.place, {**redis, "127.0.0.1:7420": self.address})
        (self.place / "offer.py").write_text(OFFER.replace(*next(iter(redis.items()))))
        pages.run(PYTHON, "offer.py", cwd=self.place)
        (self.place / "again.py").write_text(MOVE_AGAIN)
        pages.run(PYTHON, "again.py", cwd=self.place, environment=pages.CLIENT)
        messages = self.client.request("GET", "/v1/queues/shop/messages")[1]["messages"]
        self.assertEqual([each["due_ms"] for each in messages], [2524608000123] * 2)
        self.client.advance(to_ms=messages[0]["due_ms"])
        message, = self.client.request("POST", "/v1/queues/shop:lease", {"max": 1})[1]["messages"]
        self.assertEqual(message["json"], {"number": 9})


if __name__ == "__main__":
    unittest.main(verbosity=2)
