"""What becomes of what a handler does, the types of data, and the groups of outcomes."""

import dataclasses
import datetime
import typing
import unittest

from duewheel import Dead, Job, Lease, Retry, Snooze
from duewheel.handling import BODY_MAX, Outbox, Outcome, Route
from duewheel.typed import typed
from duewheel.wire import duration, instant

HOUR = datetime.timedelta(hours=1)


def job(**members):
    return Job(Lease({"id": "1", "lease": "t", "attempt": 1, "due_ms": 0, "lateness_ms": 0, "lease_until_ms": 0, **members}))


@dataclasses.dataclass
class Item:
    name: str
    count: int = 1


@dataclasses.dataclass
class Order:
    items: list[Item]
    note: typing.Optional[str] = None
    price: float = 0


class OutcomeTest(unittest.TestCase):
    def route(self, **options):
        return Route("mail", print, 1, HOUR, options.get("type"))

    def test_exceptions_say_what_becomes_of_the_message(self):
        self.assertEqual(self.route().raised(job(), Retry("again", after=HOUR)), Outcome("fail", {"reason": "again", "retry_in": HOUR}))
        self.assertEqual(self.route().raised(job(), Snooze(HOUR)), Outcome("release", {"delay": HOUR}))
        self.assertEqual(self.route().raised(job(), Dead("no address")), Outcome("fail", {"reason": "no address", "dead": True}))

    def test_a_handler_that_is_stopped_uses_up_no_attempt(self):
        stopped = job()
        stopped.cancel("stop")
        self.assertEqual(self.route().raised(stopped, RuntimeError("cancelled")), Outcome("release"))

    def test_a_snooze_until_the_past_is_none(self):
        self.assertEqual(Snooze(until=datetime.datetime.now(datetime.timezone.utc) - HOUR).delay, datetime.timedelta())

    def test_a_result_that_is_no_json_fails(self):
        with self.assertLogs("duewheel"):
            self.assertEqual(self.route().returned(job(), object()).verb, "fail")

    # NaN and half a surrogate passed the check, and then the server refused all outcomes of the request.
    def test_a_result_that_no_request_can_carry_fails(self):
        endless = []
        endless.append(endless)
        for value in (float("nan"), float("inf"), {"text": "\ud800"}, endless, 10 ** 5000):
            with self.assertLogs("duewheel"):
                self.assertEqual(self.route().returned(job(), value).verb, "fail")

    # The result was encoded when it was reported, after another thread had changed it.
    def test_a_result_that_is_changed_later_is_what_was_returned(self):
        value = {"pages": [1]}
        outcome = self.route().returned(job(), value)
        value["pages"].append(object())
        self.assertEqual(outcome, Outcome("ack", {"result": {"pages": [1]}}))

    def test_progress_that_is_no_json_is_dropped(self):
        one = job()
        one.progress(0.5, checkpoint=[7])
        for value in (float("nan"), "\ud800", object()):
            with self.assertLogs("duewheel"):
                one.progress(value)
        self.assertEqual(one.take_said(), {"progress": 0.5, "checkpoint": [7]})

    # The fail or the release was refused, and the message had no outcome until its lease ended.
    def test_a_pause_that_is_none_is_refused_where_it_is_made(self):
        for wrong in (-HOUR, 5, "1h"):
            with self.assertRaises((TypeError, ValueError)):
                Retry("again", after=wrong)
            with self.assertRaises((TypeError, ValueError)):
                Snooze(wrong)

    def test_a_reason_is_short_and_valid_text(self):
        reason = self.route().raised(job(), Dead("\ud800" + "ä" * 3000 + " the end")).options["reason"]
        self.assertLessEqual(len(reason.encode()), 4096)
        self.assertTrue(reason.endswith("ä the end"))
        self.assertEqual(self.route().raised(job(), Retry("half \ud800")).options["reason"], "half ?")

    def test_an_unknown_kind_is_an_error(self):
        route = self.route(type={"item": Item})
        self.assertEqual(route.data_of(job(json={"name": "a"}, headers={"kind": "item"})), Item("a"))
        with self.assertRaisesRegex(TypeError, "kind `order`"):
            route.data_of(job(json={}, headers={"kind": "order"}))

    def test_outcomes_of_one_verb_are_one_request(self):
        outbox, jobs = Outbox(), [job() for _ in range(4)]
        ended = list(zip(jobs, [Outcome("ack"), Outcome("fail", {"reason": "x"}), Outcome("ack"), Outcome("ack", {"result": 1})]))
        for each in ended:
            outbox.add(*each)
        outbox.close()
        self.assertEqual([outbox.take(), outbox.take(), outbox.take()], [[ended[0], *ended[2:]], [ended[1]], []])

    def test_large_results_are_several_requests(self):
        outbox = Outbox()
        for size in (BODY_MAX // 2 - 100, BODY_MAX // 2 - 100, 1, 9 * BODY_MAX, 1):
            outbox.add(job(), Outcome("ack", {"result": "x" * size}))
        outbox.close()
        self.assertEqual([len(outbox.take()) for _ in range(4)], [3, 1, 1, 0])


class TypedTest(unittest.TestCase):
    def test_objects_become_dataclasses(self):
        self.assertEqual(typed({"items": [{"name": "a"}, {"name": "b", "count": 2}], "price": 3}, Order), Order([Item("a"), Item("b", 2)], None, 3.0))

    def test_data_that_does_not_fit_names_its_place(self):
        for data, place in (({}, "Order lacks items"), ({"items": [{"name": 1}]}, r"Order.items\[0\].name is 1"), ([], r"Order is \[\]"),
                            ({"items": [], "sum": 1}, "Order has no field sum"), ({"items": [], "note": 5}, "Order.note is 5")):
            with self.assertRaisesRegex(TypeError, place):
                typed(data, Order)


class WireTest(unittest.TestCase):
    def test_durations_are_rounded_up(self):
        self.assertEqual(duration(datetime.timedelta(microseconds=1)), "1ms")

    def test_an_instant_without_a_zone_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no time zone"):
            instant(datetime.datetime(2027, 1, 1))


if __name__ == "__main__":
    unittest.main()
