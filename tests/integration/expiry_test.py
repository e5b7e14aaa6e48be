"""Messages that expire before they are leased, and the outcomes that the real server reports after their end: counted,
recorded and reported alike by every call, before and after a restart.

Programs are in the directory that DUEWHEEL_BIN names.
"""

import re
import time
import unittest

from daemon import Daemon

WITHIN_S = 60


def until(condition, what):
    """The first true answer of `condition`, asked again and again."""
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        if answer := condition():
            return answer
    raise AssertionError(f"not within {WITHIN_S} s: {what}")


class Expiry(unittest.TestCase):
    def start(self, *arguments):
        self.daemon = Daemon(arguments=list(arguments))
        self.addCleanup(self.daemon.__exit__, None, None, None)
        self.daemon.start()
        self.client = self.daemon.client()

    def restart(self):
        self.daemon.kill()
        self.daemon.start()
        self.client = self.daemon.client()

    def metric(self, name):
        text = self.client.request("GET", "/metrics")[1]
        return int(re.search(rf"^{name} (\d+)$", text, re.MULTILINE)[1])

    def history(self, queue, **parameters):
        query = "&".join(f"{name}={value}" for name, value in {"queue": queue, **parameters}.items())
        status, page = self.client.request("GET", "/v1/history?" + query)
        self.assertEqual(status, 200, page)
        return page["ended"]

    def ended(self, number):
        state = self.client.get(number)[1]["state"]
        return state != "scheduled" and state != "ready" and state

    def check(self, expired, taken):
        self.assertEqual([(row["id"], row["outcome"], row["cause"], row["attempts"]) for row in self.history("q")],
                         [(number, "expired", "expired", 0) for number in expired] + [(taken, "done", "acknowledged", 1)])
        self.assertEqual([row["id"] for row in self.history("q", id=expired[1])], [expired[1]])
        for number in expired:
            self.assertEqual(self.client.get(number)[1]["state"], "expired")
            self.assertEqual(self.client.cancel(number)[1]["outcome"], "expired")
        self.assertEqual(self.client.request("GET", "/v1/queues/q")[1]["pending"], 0)

    def test_the_cancel_of_running_work_outlives_a_kill_and_comes_before_an_expiry(self):
        self.start()
        by_worker = self.client.put("q", "x")[1]["id"]
        lost = self.client.put("q", "y", expires_in="1s")[1]["id"]
        leases = {}
        for lease in ("5m", "1s"):
            leases.update({each["id"]: each["lease"] for each in self.client.lease("q", 1, wait="20s", lease=lease)})
        for number in (by_worker, lost):
            status, answer = self.client.request("DELETE", f"/v1/messages/{number}?running=true")
            self.assertEqual((status, answer["outcome"]), (202, "cancelling"))
        self.restart()
        self.assertEqual(self.client.get(by_worker)[1]["cancel_requested"], True)
        extended = self.client.request("POST", f"/v1/leases/{leases[by_worker]}:extend", {})
        self.assertEqual((extended[0], extended[1]["cancel_requested"]), (200, True))
        failed = self.client.request("POST", f"/v1/leases/{leases[by_worker]}:fail", {"reason": "stopped"})
        self.assertEqual((failed[0], failed[1]["outcome"]), (200, "cancelled"))
        until(lambda: self.client.get(lost)[1]["state"] == "cancelled", "its lease is lost")
        self.assertEqual(sorted((row["id"], row["cause"], row["attempts"]) for row in self.history("q")),
                         sorted((number, "cancelled", 1) for number in (by_worker, lost)))

    def test_a_message_that_nobody_took_in_time_is_counted_and_recorded(self):
        self.start("--test-clock")
        numbers = []
        for members in ({"expires_in": "5m"}, {"expires_in": "5m", "delay": "1m"},
                        {"expires_ms": self.client.server_time_ms() + 5 * 60_000}):
            status, put = self.client.put("q", "too late", **members)
            self.assertEqual(status, 201, put)
            numbers.append(put["id"])
        status, put = self.client.put("q", "in time", expires_in="1h")
        self.client.advance(by="10m")
        for number in numbers:
            self.assertEqual(until(lambda: self.ended(number), "the message expires"), "expired")
        self.assertEqual(self.metric("duewheel_messages_expired_total"), 3)
        self.assertEqual(self.client.request("GET", "/v1/stats")[1]["expired"], 3)
        messages = self.client.lease("q", 10)
        self.assertEqual([message["id"] for message in messages], [put["id"]], "nobody gets what has expired")
        self.assertEqual(self.client.ack(messages[0]["lease"])[1]["outcome"], "done")
        expired = [row["id"] for row in self.history("q", outcome="expired")]
        self.assertEqual(sorted(expired), sorted(numbers))
        for row in self.history("q", outcome="expired"):
            self.assertNotIn("lateness_ms", row, "it was never handed out")
        self.check(expired, put["id"])
        self.restart()
        self.check(expired, put["id"])
        self.assertEqual(self.metric("duewheel_messages_expired_total"), 0, "counted since the start of the process")

    # Six seconds after its end a message was answered for as `cancelled`, also after a restart, although outcomes were kept
    # for one second: they counted as kept until their segment had been sealed.
    def test_what_ended_longer_ago_than_outcomes_are_kept_is_gone(self):
        self.start("--store-keep-outcomes", "1s")
        number = self.client.put("q", "x", delay="1h")[1]["id"]
        self.assertEqual(self.client.cancel(number)[1]["outcome"], "cancelled")
        until(lambda: self.client.get(number)[0] == 410, "the outcome is forgotten")
        for _ in range(2):
            status, problem = self.client.get(number)
            self.assertEqual((status, problem["code"]), (410, "gone"))
            self.assertIn(self.client.cancel(number)[1]["outcome"], ("gone", "cancelled"))
            self.assertEqual([(row["id"], row["outcome"]) for row in self.history("q", id=number)], [(number, "cancelled")])
            self.restart()


if __name__ == "__main__":
    unittest.main(verbosity=2)
