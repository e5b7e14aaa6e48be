"""The page docs/migration/bullmq.md: BullMQ on Redis schedules jobs, they are moved, and the program with our client handles them."""

import json
import pathlib
import tempfile
import unittest

import pages

PEERS = pages.ROOT / "build" / "peers" / "node" / "node_modules"
COMPILER = pages.ROOT / "build" / "web" / "node_modules" / "typescript"
pages.skip_without("node", "redis-server", files=[PEERS / "bullmq", COMPILER])

from daemon import Daemon  # noqa: E402  needs the programs of the server

DAYS_MS = 3 * 24 * 3600 * 1000


class BullMq(unittest.TestCase):
    def test_what_bullmq_has_scheduled_is_handled_by_the_new_program(self):
        with tempfile.TemporaryDirectory() as name, Daemon(arguments=["--test-clock"]) as daemon:
            place = pathlib.Path(name)
            workers = pages.Workers(place)
            try:
                self.check(place, daemon, workers)
            finally:
                workers.kill()

    def check(self, place, daemon, workers):
        daemon.start()
        client = daemon.client()
        socket = pages.start_redis(workers, place)
        self.install(place)
        pages.write_files("bullmq", "js", place, {"{ host: '127.0.0.1', port: 6379 }": json.dumps({"path": str(socket)}),
                                                  "http://127.0.0.1:7420": f"http://127.0.0.1:{daemon.port}"})
        before = workers.start("node", "before.mjs", cwd=place)
        pages.until("the old program's job", lambda: "welcome cleo" in workers.log(), workers.log)
        before.terminate()
        before.wait(pages.WITHIN_S)
        move = (place / "move.mjs").read_text()
        (place / "dies.mjs").write_text(move.replace("await job.remove()", "process.exit(0)"))
        for program in ("dies.mjs", "move.mjs", "move.mjs"):
            pages.run("node", program, cwd=place)
        moved = [client.get(each["id"])[1] for each in client.request("GET", "/v1/queues/mail/messages")[1]["messages"]]
        self.assertEqual(sorted((each["headers"]["kind"], each["json"]["to"], each["priority"]) for each in moved),
                         [("bill", "ben", 5), ("welcome", "ann", 0)])
        for each in moved:
            self.assertAlmostEqual(each["due_ms"] - each["put_ms"], DAYS_MS, delta=60_000)
        self.assertEqual(client.request("GET", "/v1/schedules/daily")[1]["settings"]["zone"], "Europe/Berlin")
        workers.start("node", "after.mjs", cwd=place)
        pages.until("the put of the new program", lambda: client.request("GET", "/v1/queues/mail")[1]["scheduled"] == 3, workers.log)
        pages.until("the worker", lambda: client.request("GET", "/v1/queues/mail")[1]["waiters"] == 1, workers.log)
        client.advance(by="3d1h")
        pages.until("the scheduled jobs", lambda: {"welcome ann", "bill ben", "bill eve", "bill dora"} <= set(workers.log().splitlines()), workers.log)
        self.assertEqual(workers.log().splitlines().count("welcome ann"), 1)
        pages.until("the end", lambda: client.request("GET", "/v1/queues/mail")[1]["pending"] == 0, workers.log)

    def install(self, place):
        """BullMQ, and the client of this tree."""
        compiled = pages.run("node", pages.ROOT / "clients" / "typescript" / "build.mjs", cwd=place).strip()
        (place / "node_modules").mkdir()
        for package in PEERS.iterdir():
            (place / "node_modules" / package.name).symlink_to(package)
        ours = place / "node_modules" / "duewheel"
        ours.mkdir()
        (ours / "package.json").symlink_to(pages.ROOT / "clients" / "typescript" / "package.json")
        (ours / "dist").symlink_to(compiled)


if __name__ == "__main__":
    unittest.main(verbosity=2)
