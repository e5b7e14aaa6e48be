"""What becomes of outcomes and progress that the server refuses. A client without a network answers."""

import datetime
import threading
import types
import unittest

from duewheel import InvalidRequest, Job, Lease, Unauthorized, Unavailable, Worker
from duewheel import Client as RealClient
from duewheel.handling import Outcome, failed
from duewheel.leases import Leases

LENGTH = datetime.timedelta(seconds=30)
DEEP, BAD_TOKEN = InvalidRequest("too_deep", "nest less"), Unauthorized("bad_token", "because")


def job(number):
    return Job(Lease({"id": str(number), "lease": str(number), "attempt": 1, "due_ms": 0, "lateness_ms": 0, "lease_until_ms": 0}))


class Client:
    """refuse: gets the verb and the JSON of each lease, and returns the error of the whole request, or None."""

    def __init__(self, refuse):
        self.refuse, self.ended, self.requests = refuse, [], []
        self.transport = types.SimpleNamespace(send=self.send)

    def many(self, leases, verb):
        values = [each if isinstance(each, dict) else {"token": each.token} for each in leases]
        self.requests.append(verb)
        error = self.refuse(verb, values)
        if error:
            raise error
        self.ended += [(verb, each) for each in values]
        return [{"outcome": "done"} for _ in leases]

    def send(self, call):
        self.requests.append(call.value)
        error = self.refuse("extend", call.value)
        if error:
            raise error
        return [{"outcome": "extended"}] if call.path == "/leases:extend" else {"outcome": "extended"}


class ReportTest(unittest.TestCase):
    # One bad result failed up to 1,000 messages whose handlers had succeeded, and they were handled again.
    def test_one_refused_outcome_fails_alone(self):
        client = Client(lambda verb, values: DEEP if any(each.get("result") == "deep" for each in values) else None)
        with self.assertLogs("duewheel", "ERROR") as logs:
            Leases(client).report([(job(number), Outcome("ack", {"result": "deep" if number == 70 else number})) for number in range(100)])
        acks = sorted(each["result"] for verb, each in client.ended if verb == "ack")
        fails = [each for verb, each in client.ended if verb == "fail"]
        self.assertEqual(acks, [number for number in range(100) if number != 70])
        self.assertEqual([(each["token"], "the ack was refused: too_deep" in each["reason"]) for each in fails], [("70", True)])
        self.assertEqual(len(logs.records), 1)
        self.assertLess(len(client.requests), 20)

    # A token that was rotated cost the outcomes of all handlers that returned meanwhile.
    def test_a_refused_token_is_no_refused_outcome(self):
        answers = [BAD_TOKEN, Unauthorized("forbidden", "because"), None]
        client = Client(lambda verb, values: answers.pop(0))
        leases = Leases(client)
        leases.ended = types.SimpleNamespace(wait=lambda time_s: False)
        with self.assertLogs("duewheel", "WARNING"):
            leases.report([(job(1), Outcome("ack"))])
        self.assertEqual(client.requests, ["ack"] * 3)

    # The last report of a stop was followed by a fail of the same message, so that a success counted as a failure.
    def test_a_success_that_cannot_be_reported_at_the_end_is_no_failure(self):
        client = Client(lambda verb, values: Unavailable("deadline", "no response"))
        leases = Leases(client)
        leases.close()
        with self.assertLogs("duewheel", "WARNING"):
            leases.report([(job(1), Outcome("ack"))])
        self.assertEqual(client.requests, ["ack"])

    # A checkpoint just before an exception was sent after the failure, or never: the next attempt began with an older one.
    def test_what_a_job_has_said_last_is_sent_before_its_failure(self):
        for outcome, said_first in ((failed("again"), True), (Outcome("release"), True), (Outcome("ack"), False)):
            client, one = Client(lambda verb, values: None), job(1)
            one.progress(0.5, checkpoint="x")
            Leases(client).report([(one, outcome)])
            self.assertEqual([each if isinstance(each, str) else each["checkpoint"] for each in client.requests],
                             ["x"] * said_first + [outcome.verb])

    def test_a_failure_waits_for_the_extension_that_carries_a_checkpoint(self):
        begun, go_on = threading.Event(), threading.Event()

        def refuse(verb, values):
            if verb == "extend":
                begun.set()
                go_on.wait(60)
                order.append(verb)
        order, one = [], job(1)
        client = Client(refuse)
        leases = Leases(client)
        one.progress(0.5, checkpoint="x")
        beat = threading.Thread(target=leases.extend, args=(LENGTH, [one]))
        beat.start()
        begun.wait(60)
        report = threading.Thread(target=lambda: (leases.report([(one, failed("again"))]), order.append("fail")))
        report.start()
        self.assertEqual(client.ended, [])
        go_on.set()
        beat.join(60)
        report.join(60)
        self.assertEqual(order, ["extend", "fail"])

    # A fail whose time was refused was given up, and the message had no outcome until its lease ended.
    def test_a_refused_fail_is_sent_once_more_with_the_reason_alone(self):
        client = Client(lambda verb, values: InvalidRequest("bad_duration", "because"))
        with self.assertLogs("duewheel", "ERROR"):
            Leases(client).report([(job(1), failed("again", retry_in=LENGTH))])
        self.assertEqual(client.requests, ["fail", "fail"])


class ExtendTest(unittest.TestCase):
    def extend(self, refusal):
        """The JSON of each request, and the job."""
        client, one = Client(lambda verb, value: refusal if "progress" in value else None), job(1)
        one.progress(0.5, checkpoint="x")
        with self.assertLogs("duewheel", "WARNING") as logs:
            Leases(client).extend(LENGTH, [one])
        self.assertEqual(len(logs.records), 1)
        return client.requests, one

    # The progress was said again with each extension, all of them were refused, and the lease ended.
    def test_a_refused_progress_is_dropped_and_the_lease_extended(self):
        requests, one = self.extend(DEEP)
        self.assertEqual([sorted(each) for each in requests], [["checkpoint", "lease", "progress"], ["lease", "leases"]])
        self.assertEqual(one.take_said(), {})

    def test_progress_is_kept_while_it_cannot_be_sent(self):
        for refusal in (BAD_TOKEN, Unavailable("deadline", "no response")):
            requests, one = self.extend(refusal)
            self.assertEqual(len(requests), 1)
            self.assertEqual(one.take_said(), {"progress": 0.5, "checkpoint": "x"})


class WorkerTest(unittest.TestCase):
    # A worker without room for a message waited for ever.
    def test_a_concurrency_of_zero_is_refused(self):
        with self.assertRaisesRegex(ValueError, "1 or more"):
            Worker(RealClient("http://one:1")).handler("mail", concurrency=0)


if __name__ == "__main__":
    unittest.main()
