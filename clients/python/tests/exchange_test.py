"""The decisions about one call: no network, and the time is an argument."""

import datetime
import json
import ssl
import unittest

import duewheel
from duewheel import calls
from duewheel.exchange import Exchange, Response, Settings

SETTINGS = Settings("http://one:1", "dw_secret", None, 10, True)


def answer(value, status=200, **headers):
    return Response(status, {"content-type": "application/json", **{name.replace("_", "-"): each for name, each in headers.items()}},
                    json.dumps(value).encode())


def refusal(status, code, **headers):
    return answer({"status": status, "code": code, "detail": "because"}, status, **headers)


class ExchangeTest(unittest.TestCase):
    def exchange(self, call=None, settings=SETTINGS):
        return Exchange(call or calls.put("mail", "hello"), settings, 100)

    def test_an_answer_ends_it(self):
        exchange = self.exchange()
        self.assertEqual(exchange.answered(answer({"id": "7", "state": "ready", "due": "", "due_ms": 0}, 201), 101), 0)
        self.assertTrue(exchange.done)
        self.assertEqual(exchange.result.id, "7")

    def test_all_attempts_of_a_put_have_one_key(self):
        exchange = self.exchange()
        first = exchange.request(100)
        exchange.lost(OSError("reset"), 101)
        self.assertEqual(exchange.request(102).content, first.content)
        self.assertTrue(json.loads(first.content)["key"])

    def test_pauses_grow_and_have_jitter_until_the_deadline(self):
        exchange, now_s, pauses = self.exchange(), 100, []
        with self.assertRaises(duewheel.Unavailable) as raised:
            while True:
                pauses.append(exchange.lost(OSError("reset"), now_s))
                now_s += pauses[-1]
        self.assertEqual(raised.exception.code, "deadline")
        self.assertLess(now_s, 110)
        self.assertLess(pauses[0], pauses[4])
        self.assertLessEqual(max(pauses), 2)

    def test_retry_after_is_kept(self):
        self.assertGreaterEqual(self.exchange().answered(refusal(429, "queue_full", retry_after="3"), 100), 3)

    def test_a_pause_beyond_the_deadline_is_not_begun(self):
        with self.assertRaises(duewheel.Throttled):
            self.exchange().answered(refusal(429, "queue_full", retry_after="30"), 100)

    def test_an_error_of_the_request_is_final(self):
        with self.assertRaises(duewheel.Conflict):
            self.exchange().answered(refusal(409, "key_conflict"), 100)

    def test_a_redirect_keeps_the_token(self):
        exchange = self.exchange()
        self.assertEqual(exchange.answered(refusal(307, "other_node", location="http://two:2/v1/x"), 100), 0)
        request = exchange.request(100)
        self.assertEqual((request.url, request.headers["Authorization"]), ("http://two:2/v1/x", "Bearer dw_secret"))

    def test_redirects_in_a_circle_end(self):
        exchange = self.exchange()
        with self.assertRaises(duewheel.Unavailable) as raised:
            for _ in range(10):
                exchange.answered(refusal(307, "other_node", location="http://two:2/v1/x"), 100)
        self.assertEqual(raised.exception.code, "too_many_redirects")

    def test_a_lost_long_poll_waits_for_what_is_left(self):
        exchange = self.exchange(calls.lease("mail", wait=datetime.timedelta(seconds=20)))
        self.assertEqual(json.loads(exchange.request(115).content)["wait"], "5000ms")
        self.assertEqual(exchange.deadline_s, 130)

    def test_a_certificate_that_is_not_trusted_is_final(self):
        error = OSError("connect")
        error.__cause__ = ssl.SSLCertVerificationError("self-signed")
        error.__cause__.verify_message = "self-signed certificate"
        with self.assertRaises(duewheel.Unavailable) as raised:
            self.exchange().lost(error, 100)
        self.assertEqual(raised.exception.code, "bad_certificate")

    def test_another_program_is_named(self):
        for status in (200, 404, 502):
            with self.assertRaises(duewheel.Unavailable) as raised:
                self.exchange().answered(Response(status, {"content-type": "text/html"}, b"<html>"), 100)
            self.assertEqual(raised.exception.code, "not_duewheel")

    # JSON that is no JSON, or that another program means, was a ValueError, a KeyError or a TypeError.
    def test_json_of_another_program_is_named(self):
        for body in (b"{", b"[]", b"7", b'{"up": true}'):
            with self.assertRaises(duewheel.Unavailable) as raised:
                self.exchange(calls.lease("mail")).answered(Response(200, {"content-type": "application/json"}, body), 100)
            self.assertEqual(raised.exception.code, "not_duewheel")

    # Python converts no text of more than 4,300 digits, and one such number kept all messages of its response from the worker.
    def test_integers_have_any_length(self):
        for digits in ("9" * 5000, "-1" + "0" * 20000):
            exchange = self.exchange(calls.call("GET", "/x"))
            exchange.answered(Response(200, {"content-type": "application/json"}, f'{{"json": [{digits}, 7]}}'.encode()), 100)
            large, small = exchange.result["json"]
            self.assertEqual(small, 7)
            self.assertEqual(large, -10 ** 20000 if digits[0] == "-" else 10 ** 5000 - 1)

    def test_a_namespace_is_part_of_each_path_but_those_of_the_server(self):
        settings = Settings("http://one:1", None, "größe", 10, True)
        self.assertEqual(settings.path_of(calls.fire("7")), "/v1/namespaces/gr%C3%B6%C3%9Fe/messages/7:fire")
        self.assertEqual(settings.path_of(calls.advance(datetime.timedelta(days=1))), "/v1/clock:advance")


if __name__ == "__main__":
    unittest.main()
