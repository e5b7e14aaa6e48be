"""The page docs/migration/bullmq.md: BullMQ on Redis schedules jobs, they are moved, and the program with our client handles them."""

import json
import unittest

import pages

PEERS = pages.ROOT / "build" / "peers" / "node" / "node_modules"
COMPILER = pages.ROOT / "build" / "web" / "node_modules" / "typescript"
pages.skip_without("node", "redis-server", files=[PEERS / "bullmq", COMPILER])

from shop import Shop  # noqa: E402  needs the programs of the server

DAYS_MS = 3 * 24 * 3600 * 1000


class BullMq(Shop):
    def test_what_bullmq_has_scheduled_is_handled_by_the_new_program(self):
        redis = pages.start_redis(self.workers, self.place)
        self.install()
        pages.write_files("bullmq", "js", self.place, {"{ host: '127.0.0.1', port: 6379 }": json.dumps({"path": str(redis)}),
                                                       "127.0.0.1:7420": self.address})
        before = self.workers.start("node", "before.mjs", cwd=self.place)
        self.until_logged("welcome cleo")
        before.terminate()
        before.wait(pages.WITHIN_S)
        move = (self.place / "move.mjs").read_text()
        (self.place / "dies.mjs").write_text(move.replace("await job.remove()", "process.exit(0)"))
        for program in ("dies.mjs", "move.mjs", "move.mjs"):
            pages.run("node", program, cwd=self.place)
        moved = [self.client.get(each["id"])[1] for each in self.client.request("GET", "/v1/queues/mail/messages")[1]["messages"]]
        self.assertEqual(sorted((each["headers"]["kind"], each["json"]["to"], each["priority"]) for each in moved),
                         [("bill", "ben", 5), ("welcome", "ann", 0)])
        for each in moved:
            self.assertAlmostEqual(each["due_ms"] - each["put_ms"], DAYS_MS, delta=60_000)
        self.assertEqual(self.client.request("GET", "/v1/schedules/daily")[1]["settings"]["zone"], "Europe/Berlin")
        self.workers.start("node", "after.mjs", cwd=self.place)
        self.until_counted("mail", scheduled=3, waiters=1)
        self.client.advance(by="3d1h")
        self.until_logged("welcome ann", "bill ben", "bill eve", "bill dora")
        self.until_counted("mail", pending=0)
        self.assertEqual(self.workers.log().splitlines().count("welcome ann"), 1)

    def install(self):
        """BullMQ, and the client of this tree."""
        modules = self.place / "node_modules"
        modules.mkdir()
        for package in PEERS.iterdir():
            (modules / package.name).symlink_to(package)
        client = pages.ROOT / "clients" / "typescript"
        (modules / "duewheel").mkdir()
        (modules / "duewheel" / "package.json").symlink_to(client / "package.json")
        (modules / "duewheel" / "dist").symlink_to(pages.run("node", client / "build.mjs", cwd=self.place).strip())


if __name__ == "__main__":
    unittest.main(verbosity=2)
