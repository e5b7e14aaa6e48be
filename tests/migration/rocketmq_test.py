"""The page docs/migration/rocketmq.md: its programs with the Java client."""

import unittest

import pages

PATH = pages.java_path()

from shop import Shop  # noqa: E402  needs the programs of the server

# A program of an old consumer that forwards one message twice.
TWICE = """
import duewheel.DuewheelClient;
import java.time.Instant;
import java.util.Map;

class Twice {
    public static void main(String[] words) {
        Forward to = new Forward(DuewheelClient.of(words[0]));
        for (int time = 0; time < 2; ++time) {
            to.forward("forwarded", "7F0000010001", "closed", Map.of("order", 9), Instant.parse("2050-01-01T00:00:00Z"));
        }
    }
}
"""


class RocketMq(Shop):
    def test_the_programs_of_the_page(self):
        path = pages.compile_java("rocketmq", self.place, PATH, {"127.0.0.1:7420": self.address})
        self.workers.start("java", "-cp", path, "Shop", cwd=self.place)
        self.until_counted("order-timeouts", scheduled=1, waiters=1)
        self.client.advance(by="30m")
        self.until_retrying("order-timeouts")
        self.assertNotIn("closed", self.workers.log())
        self.client.advance(by="1m")
        self.until_counted("order-timeouts", pending=0)
        self.assertEqual([line for line in self.workers.log().splitlines() if line.startswith("closed")], ["closed order 7"])

        (self.place / "Twice.java").write_text(TWICE)
        pages.run("javac", "-d", self.place, "-cp", path, "Twice.java", cwd=self.place)
        pages.run("java", "-cp", path, "Twice", f"http://{self.address}", cwd=self.place)
        message, = self.client.request("GET", "/v1/queues/forwarded/messages")[1]["messages"]
        self.assertEqual(self.client.get(message["id"])[1]["headers"], {"kind": "closed"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
