"""Limits, rates and groups of the real server: over restarts, with a backlog on disk, and for every kind of consumer. groups_test.py has the
calls and commands, and group_kills_test.py a server that is killed again and again."""

import json
import threading
import time
import unittest

from beanstalk_client import BeanstalkDaemon
from webhook_daemon import Webhooks, wait_until

MANY = 20_000
PAST = "2026-01-01T00:00:00Z"


def rows(messages):
    return "".join(json.dumps(message) + "\n" for message in messages)


class Groups(Webhooks):
    def started(self, *arguments, **how):
        daemon = self.daemon(*arguments, **how)
        daemon.start()
        return daemon, daemon.client()

    def ask(self, client, method, path, value=None):
        status, answer = client.request(method, path, value)
        self.assertIn(status, (200, 201), answer)
        return answer

    def put_all(self, client, messages, queue="q"):
        for first in range(0, len(messages), 1000):
            part = messages[first:first + 1000]
            _, answer = client.request_text("POST", f"/v1/queues/{queue}/messages:batch", rows(part), {"Content-Type": "application/x-ndjson"})
            self.assertEqual(answer.count('"status":201'), len(part), answer[:500])

    def put_each(self, client, *groups):
        """A message of each group, whose body names it; their ids."""
        return [client.put("q", group, group=group)[1]["id"] for group in groups]

    def bodies(self, messages):
        return [message["body"] for message in messages]

    def leased(self, client):
        return self.ask(client, "GET", "/v1/queues/q")["leased"]


class Limits(Groups):
    def test_a_limit_below_what_is_leased_ends_nothing_and_delivers_nothing_until_it_fits(self):
        _, client = self.started()
        self.ask(client, "PUT", "/v1/queues/q", {"limits": {"leased": 5}, "groups": {"leased": 3}})
        self.put_each(client, *["a"] * 6, *["b"] * 6)
        held = client.lease("q", 10)
        self.assertEqual(sorted(self.bodies(held)), ["a", "a", "a", "b", "b"])
        self.ask(client, "PATCH", "/v1/queues/q", {"limits": {"leased": 2}, "groups": {"leased": 1}})
        self.assertEqual(self.leased(client), 5)
        of = {group: [message for message in held if message["body"] == group] for group in "ab"}
        self.ask(client, "POST", f"/v1/leases/{of['a'][0]['lease']}:extend", {"lease": "40s"})
        for message in (of["a"][0], of["a"][1], of["b"][0]):  # one each is left: both limits are used up
            self.assertEqual(client.ack(message["lease"])[0], 200)
            self.assertEqual(client.lease("q", 10), [])
        self.assertEqual(client.ack(of["a"][2]["lease"])[0], 200)
        held = client.lease("q", 10)
        self.assertEqual(self.bodies(held), ["a"], "the limit of the group b is used up")
        self.ask(client, "PATCH", "/v1/queues/q", {"limits": {"leased": None}, "groups": {"leased": None}})
        self.assertEqual(len(client.lease("q", 100)), 6)

    def test_a_consumer_that_waits_is_served_when_a_limit_is_raised_and_when_a_lease_ends(self):
        daemon, client = self.started()
        self.ask(client, "PUT", "/v1/queues/q", {"groups": {"leased": 1}})
        self.put_each(client, *["a"] * 3)
        first, = client.lease("q", 10)
        got = []
        waiting = [threading.Thread(target=lambda: got.append(daemon.client().lease("q", 1, "30s"))) for _ in range(2)]
        for thread in waiting:
            thread.start()
        wait_until(lambda: self.ask(client, "GET", "/v1/queues/q")["waiters"] == 2)
        client.ack(first["lease"])
        wait_until(lambda: len(got) == 1)
        self.ask(client, "PUT", "/v1/queues/q/groups/a", {"leased": 2})
        for thread in waiting:
            thread.join(60)
        self.assertEqual([self.bodies(messages) for messages in got], [["a"], ["a"]])

    def test_settings_of_a_group_override_those_of_its_queue_and_outlive_a_kill(self):
        daemon, client = self.started()
        self.ask(client, "PUT", "/v1/queues/q", {"groups": {"leased": 1}})
        self.ask(client, "PUT", "/v1/queues/q/groups/wide", {"leased": 3, "weight": 2})
        self.put_each(client, *["wide"] * 9, *["a"] * 3)
        for _ in range(2):
            held = client.lease("q", 100)
            self.assertEqual(sorted(self.bodies(held)), ["a", "wide", "wide", "wide"])
            self.assertEqual(client.ack_all(held), ["done"] * 4)
            daemon.kill()
            daemon.start()
            client = daemon.client()
        self.ask(client, "DELETE", "/v1/queues/q/groups/wide")
        self.assertEqual(sorted(self.bodies(client.take("q", 2))), ["a", "wide"])

    def test_kept_leases_count_after_a_stop(self):
        daemon, client = self.started()
        self.ask(client, "PUT", "/v1/queues/q", {"limits": {"leased": 3}, "groups": {"leased": 2}})
        self.put_each(client, *["a"] * 4, *["b"] * 4)
        held = client.take("q", 3)
        for _ in range(2):
            self.assertEqual(daemon.terminate(), 0)
            daemon.start()
            client = daemon.client()
            self.assertEqual((self.leased(client), client.lease("q", 10)), (3, []))
        self.assertEqual(client.ack_all(held), ["done"] * 3)
        self.assertEqual(len(client.lease("q", 10, "20s")), 3)

    def test_a_group_that_backs_off_costs_the_others_nothing_also_after_a_kill(self):
        daemon, client = self.started("--test-clock")
        self.put_each(client, "a", "b", "a")
        self.ask(client, "POST", "/v1/queues/q/groups/a:backoff", {"for": "1h"})
        self.assertEqual(self.bodies(client.lease("q", 10)), ["b"])
        daemon.kill()
        daemon.start()
        client = daemon.client()
        self.put_each(client, "c")
        wait_until(lambda: "c" in self.bodies(client.lease("q", 10, "1s", "2h")))
        self.assertEqual(self.ask(client, "GET", "/v1/queues/q/groups/a")["limited_by"], "backoff")
        client.advance(by="59m")
        self.assertNotIn("a", self.bodies(client.lease("q", 10)))
        client.advance(by="61s")
        wait_until(lambda: "a" in self.bodies(client.lease("q", 10, "1s")))


class Rates(Groups):
    RATE, COUNT, BURST = 20, 80, 2  # a second, of each group

    def test_the_rate_of_a_group_is_kept_over_restarts(self):
        daemon, client = self.started()
        self.ask(client, "PUT", "/v1/queues/q", {"groups": {"rate": {"count": self.RATE, "per": "1s", "burst": self.BURST}}})
        self.put_each(client, *["a", "b"] * self.COUNT)
        delivered = {"a": [], "b": []}
        for part in range(1, 5):
            while min(map(len, delivered.values())) < self.COUNT * part // 4:
                messages = client.lease("q", 100, "10s")
                self.assertTrue(messages)
                for message in messages:
                    delivered[message["body"]].append(message["delivered_ms"])
                client.ack_all(messages)
            if part < 4:
                daemon.kill() if part % 2 else daemon.terminate()
                daemon.start()
                client = daemon.client()
        for group, instants in delivered.items():
            instants.sort()
            for first, begin in enumerate(instants):
                for last in range(first, len(instants)):
                    may = (instants[last] - begin + 1) * self.RATE / 1000 + self.BURST
                    self.assertLessEqual(last - first + 1, may, f"{group} from {begin} to {instants[last]} ms")

    def test_the_rate_of_a_queue_is_that_of_all_its_groups(self):
        _, client = self.started("--test-clock")
        self.ask(client, "PUT", "/v1/queues/q", {"rate": {"count": 6, "per": "1m", "burst": 2}})
        client.advance(by="1h")
        self.put_each(client, *"abcdef")
        self.assertEqual(len(client.lease("q", 10)), 2)
        for _ in range(4):
            client.advance(by="9s")
            self.assertEqual(client.lease("q", 10), [])
            client.advance(by="1s")
            self.assertEqual(len(client.take("q", 1)), 1)


class Backlog(Groups):
    def with_many(self, group="big"):
        """A server of which 20,000 messages of one group, due before all others, are on disk."""
        daemon, client = self.started(environment={"DUEWHEEL_STORE_SEGMENT_SIZE": "1MiB"})
        self.put_all(client, [{"body": "x" * 300, "group": group, "due": PAST}] * MANY)
        daemon.terminate()
        daemon.start()
        client = daemon.client()
        wait_until(lambda: self.ask(client, "GET", "/v1/queues/q")["backlog_on_disk"])
        return daemon, client

    def waited_s(self, client, group, most):
        """From the put of a message of a group until one that leases `most` at a time has it."""
        began = time.monotonic()
        number, = self.put_each(client, group)
        while True:
            messages = client.lease("q", most, "5s")
            self.assertTrue(messages)
            if number in [message["id"] for message in messages]:
                client.ack_all(messages)
                return time.monotonic() - began
            client.ack_all(messages)

    def test_a_group_of_many_due_messages_does_not_delay_the_others(self):
        daemon, client = self.with_many()
        for number in range(20):
            self.assertLess(self.waited_s(client, f"quiet {number % 3}", 100), 1)
        self.ask(client, "PUT", "/v1/queues/q", {"groups": {"leased": 2}})
        held = client.take("q", 2)
        self.assertEqual({message["body"][0] for message in held}, {"x"})
        for number in range(20):
            self.assertLess(self.waited_s(client, f"quiet {number % 3}", 10), 1)
        self.assertEqual(client.lease("q", 10), [])
        group = self.ask(client, "GET", "/v1/queues/q/groups/big")
        self.assertEqual((group["leased"], group["limited_by"]), (2, "leased"))
        client.ack_all(held)
        self.assertEqual(len(client.take("q", 2)), 2)

    def test_all_of_a_large_group_and_of_the_others_comes_once(self):
        daemon, client = self.with_many()
        others = self.put_each(client, *(f"other {number}" for number in range(50)))
        seen = []
        while len(seen) < MANY + len(others):
            messages = client.lease("q", 1000, "20s")
            self.assertTrue(messages, f"only {len(seen)} came")
            seen += [message["id"] for message in messages]
            self.assertEqual(set(client.ack_all(messages)), {"done"})
        self.assertEqual(len(set(seen)), MANY + len(others))
        self.assertEqual(self.ask(client, "GET", "/v1/queues/q")["pending"], 0)
        self.assertEqual(self.ask(client, "GET", "/v1/queues/q/groups")["groups"], [])

    def test_a_purge_ends_what_all_groups_have_and_frees_their_limits(self):
        daemon, client = self.with_many()
        self.ask(client, "PUT", "/v1/queues/q", {"groups": {"leased": 2}})
        self.put_each(client, *["a"] * 5, *["b"] * 5)
        held = client.take("q", 6)
        client.request("POST", "/v1/queues/q:purge", {})
        wait_until(lambda: self.ask(client, "GET", "/v1/queues/q").get("pending", 0) <= len(held))
        self.assertEqual(client.lease("q", 10), [])
        client.ack_all(held)
        self.put_each(client, *["a"] * 5, *["big"] * 5)
        self.assertEqual(sorted(self.bodies(client.take("q", 4))), ["a", "a", "big", "big"])

    def test_redriven_messages_are_in_their_groups_again(self):
        daemon, client = self.started()
        self.ask(client, "PUT", "/v1/queues/q", {"retry": {"attempts": 1}, "groups": {"leased": 2}})
        self.put_each(client, *["a"] * 5, *["b"] * 3)
        dead = 0
        while dead < 8:
            for message in client.take("q", 1):
                self.assertEqual(self.ask(client, "POST", f"/v1/leases/{message['lease']}:fail", {"reason": "no"})["outcome"], "dead")
                dead += 1
        daemon.kill()
        daemon.start()
        client = daemon.client()
        self.assertEqual(self.ask(client, "POST", "/v1/queues/q:redrive", {"max": 100})["redriven"], 8)
        got = []
        while len(got) < 8:
            messages = client.lease("q", 100, "10s")
            for group in "ab":
                self.assertLessEqual(self.bodies(messages).count(group), 2)
            got += self.bodies(messages)
            client.ack_all(messages)
        self.assertEqual(sorted(got), ["a"] * 5 + ["b"] * 3)


class OtherConsumers(Groups):
    def test_posts_of_a_webhook_keep_to_the_limits(self):
        lock = threading.Lock()
        open_now, most = {"": 0, "a": 0, "b": 0}, {"": 0, "a": 0, "b": 0}

        def answer(post):
            group = post.body.decode()
            with lock:
                for name in ("", group):
                    open_now[name] += 1
                    most[name] = max(most[name], open_now[name])
            done.wait(0.03)
            with lock:
                for name in ("", group):
                    open_now[name] -= 1
            return 500 if len(receiver.posts) % 10 == 0 else 200

        done = threading.Event()  # never set: a wait with an end
        receiver = self.receiver(answer)
        _, client = self.started()
        self.ask(client, "PUT", "/v1/queues/q", {
            "target": {"webhook": {"url": receiver.url(), "concurrency": 64}}, "limits": {"leased": 2}, "groups": {"leased": 1},
            "retry": {"attempts": 20, "first": "10ms", "factor": 1, "max": "10ms", "jitter": 0}})
        self.put_each(client, *["a"] * 40, *["b"] * 40)
        wait_until(lambda: self.ask(client, "GET", "/v1/queues/q")["pending"] == 0)
        self.assertEqual(most, {"": 2, "a": 1, "b": 1})

    def test_a_reserve_of_beanstalkds_protocol_keeps_to_the_limits(self):
        daemon = BeanstalkDaemon()
        self.addCleanup(daemon.__exit__)
        daemon.start()
        client = daemon.client()
        self.ask(client, "PUT", "/v1/queues/q", {"limits": {"leased": 2}})
        consumer = daemon.connect()
        self.assertEqual(consumer.ask("use q\r\n"), b"USING q\r\n")
        self.assertEqual(consumer.ask("watch q\r\n"), b"WATCHING 2\r\n")
        jobs = [consumer.put(b"%d" % number) for number in range(4)]
        for _ in range(2):
            self.assertTrue(consumer.ask("reserve-with-timeout 10\r\n").startswith(b"RESERVED"))
        self.assertEqual(consumer.ask("reserve-with-timeout 0\r\n"), b"TIMED_OUT\r\n")
        other = daemon.connect()
        other.ask("watch q\r\n")
        other.send("reserve\r\n")
        wait_until(lambda: self.ask(client, "GET", "/v1/queues/q")["waiters"] == 1)
        self.assertEqual(client.lease("q", 10), [], "leases over HTTP count too")
        self.assertEqual(consumer.ask(f"delete {jobs[0]}\r\n"), b"DELETED\r\n")
        self.assertTrue(other.read().startswith(b"RESERVED"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
