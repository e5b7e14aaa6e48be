"""A token that is limited to a prefix of queues, and one that is limited to a namespace, try each call of the API on what is not theirs: what
belongs to others looks like what does not exist, is in no answer, and stays as it is. The calls are those of the server's own document.
"""

import json
import unittest

from attacks import Target, main

ALL = ["put", "read", "consume", "cancel", "schedule", "admin"]
CANARY = "canary"
UNKNOWN = "9007199254740991"
CRON = {"cron": "0 0 1 1 *"}
RULES = {"schedules": CRON, "watchdogs": {"timeout": "1h"}}


class Reach(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = target = cls.enterClassContext(Target())
        cls.of_prefix = target.token("prefix", *ALL, queues="mail-")
        cls.of_namespace = target.token("namespace", *ALL, namespaces=["shop"])
        cls.delayed = target.put("other", CANARY, delay="1h", key="the-key", headers={"h": CANARY})
        cls.leased = target.put("leased", CANARY)
        cls.lease = cls.begin_lease("leased")
        cls.prepared = target.put("other", CANARY, transaction={"check_back": {"after": "1h"}})
        cls.dead = target.put("dying", CANARY, retry={"attempts": 1})
        assert target.code("POST", f"/v1/leases/{cls.begin_lease('dying')}:fail", {"reason": CANARY})[0] == 200
        for path, body in (("queues/other", {}), *((f"{kind}/foreign", {"queue": "other", "body": CANARY, **rule}) for kind, rule in RULES.items())):
            assert target.ask("PUT", f"/v1/{path}", body)[0] in (200, 201), path
        cls.calls = [(method.upper(), path) for path, item in target.ask("GET", "/openapi.json")[1]["paths"].items()
                     for method in item if method in ("get", "put", "post", "patch", "delete") and path not in ("/v1/events", "/v1/session")]

    @classmethod
    def begin_lease(cls, queue):
        return cls.target.ask("POST", f"/v1/queues/{queue}:lease", {"lease": "1h"})[1]["messages"][0]["lease"]

    def state(self):
        """All that the attacks could change."""
        pages = [f"messages/{number}" for number in (self.delayed, self.leased, self.prepared, self.dead)]
        pages += ["queues", "queues/other", "queues/other/groups", "queues/dying", "schedules/foreign", "watchdogs/foreign", "tokens", "namespaces"]
        told = {page: self.target.ask("GET", f"/v1/{page}") for page in pages}
        for token in told["tokens"][1]["tokens"]:
            token.pop("last_used", None), token.pop("last_used_ms", None)
        return told

    def attack_of(self, method, path, message, name="foreign"):
        """(path, body) of the call on what is foreign."""
        path = path.format(queue="other" if name == "foreign" else name, id=message, token=self.lease, schedule=name, watchdog=name, group="ann",
                           namespace="default", token_id="root", file="../../etc/passwd", page="../../etc/passwd")
        body = {}
        if path.startswith("/v1/leases:"):
            body = {"leases": [self.lease]}
        elif path.endswith(":batch"):
            body = [{"body": "x"}]
        elif "/queues/" in path and path.endswith("/messages"):
            body = {"body": "x"}
        elif method == "PATCH" and "messages" in path:
            body = {"delay": "2h"}
        elif path.endswith("preview"):
            body = CRON
        elif "/groups/" in path:
            body = {"for": "1h"} if path.endswith(":backoff") else {"leased": 1}
        elif method in ("PUT", "PATCH"):
            body = {"queue": "mail-1", **RULES.get(path.split("/")[-2], {})} if path.split("/")[-2] in RULES else {}
        if path in ("/v1/messages", "/v1/history"):
            path += "?queue=other" + "&key=the-key" * (path == "/v1/messages")
        if path in ("/v1/forecast", "/v1/lateness"):
            path += "?queue=other"
        return path, None if method in ("GET", "DELETE") else body

    def send(self, token, method, path, body):
        status, answer = self.target.ask(method, path, body, token, **({"Content_Type": "application/merge-patch+json"} if method == "PATCH" else {}))
        return status, answer if isinstance(answer, dict) else {"text": answer}

    def assert_nothing(self, token, before, method, path, body):
        status, answer = self.send(token, method, path, body)
        self.assertNotIn(CANARY, json.dumps(answer))
        self.assertNotEqual(status // 100, 5, answer)
        self.assertEqual(self.state(), before)
        return answer

    def test_each_call_on_what_is_foreign(self):
        before = self.state()
        ids = {":commit": self.prepared, ":rollback": self.prepared, ":discard": self.dead, ":kick": self.dead}
        for method, path in self.calls:
            message = next((number for verb, number in ids.items() if path.endswith(verb)), self.delayed)
            for who, token in (("prefix", self.of_prefix), ("namespace", self.of_namespace)):
                with self.subTest(f"{method} {path}, token of a {who}"):
                    answer = self.assert_nothing(token, before, method, *self.attack_of(method, path, message))
                    if "leases" in path:
                        continue  # as one that has ended
                    if method not in ("PUT", "PATCH") or "messages" in path:  # the creation of a rule tells that its name was free
                        _, unknown = self.send(token, method, *self.attack_of(method, path, UNKNOWN, "nothing"))
                        self.assertEqual((answer.get("status"), answer.get("code")), (unknown.get("status"), unknown.get("code")))

    # What is foreign by its id or lease, under the name of the attacker's own namespace.
    def test_foreign_ids_in_an_own_namespace(self):
        before = self.state()
        for method, path in self.calls:
            if path.startswith(("/v1/messages/", "/v1/leases")):
                with self.subTest(f"{method} {path}"):
                    target, body = self.attack_of(method, path, self.delayed)
                    self.assert_nothing(self.of_namespace, before, method, target.replace("/v1/", "/v1/namespaces/shop/", 1), body)

    def test_names_that_are_nearly_the_prefix(self):
        for what, name in {"shorter": "mail", "case": "Mail-1", "full width": "%EF%BD%8Dail-1", "other hyphen": "mail%E2%80%901",
                           "space before": "%20mail-1", "zero width before": "%E2%80%8Bmail-1", "slash before": "%2Fmail-1", "dots before": "..%2Fmail-1",
                           "prefix in the middle": "other%2Fmail-1", "NUL behind": "mail-%00other", "mark in front": "%CC%81mail-1"}.items():
            with self.subTest(what):
                self.assertIn(self.target.ask("POST", f"/v1/queues/{name}/messages", {"body": "x"}, self.of_prefix)[0], (400, 403))
        for what, name in {"dots behind": "mail-%2F..%2Fother", "encoded": "%6Dail-2"}.items():
            with self.subTest(what):  # a slash is a character of a name, and leads nowhere
                before = self.target.ask("GET", "/v1/queues/other")
                self.assertEqual(self.target.ask("POST", f"/v1/queues/{name}/messages", {"body": "x"}, self.of_prefix)[0], 201)
                self.assertEqual(self.target.ask("GET", "/v1/queues/other"), before)

    def test_foreign_names_in_a_body_or_parameter(self):
        for what, (method, path, body) in {
                "queue of checks": ("POST", "/v1/queues/mail-1/messages", {"body": "x", "transaction": {"check_back": {"after": "1s", "queue": "other"}}}),
                "queue of a new schedule": ("PUT", "/v1/schedules/mine", {"queue": "other", **CRON}),
                "queue of a new watchdog": ("PUT", "/v1/watchdogs/mine", {"queue": "other", "timeout": "1ms"}),
                "queue of a put": ("POST", "/v1/queues/mail-1/messages", {"body": "x", "queue": "other"}),
                "namespace of a put": ("POST", "/v1/queues/mail-1/messages", {"body": "x", "namespace": "team"}),
                "queue of a redrive": ("POST", "/v1/queues/mail-1:redrive", {"queue": "other"}),
                "queue of a move": ("PATCH", f"/v1/messages/{self.delayed}", {"delay": "1s", "queue": "mail-1"}),
                "two queues": ("GET", "/v1/history?queue=mail-1&queue=other", None), "queue encoded twice": ("GET", "/v1/history?queue=mail-%2525", None),
                "namespace as a parameter": ("GET", "/v1/queues?namespace=default", None),
                "forecast of another queue": ("GET", "/v1/forecast?queue=other", None)}.items():
            with self.subTest(what):
                status, answer = self.target.ask(method, path, body, self.of_prefix)
                self.assertIn(status, (400, 403, 404, 415), answer)
                self.assertEqual(self.target.ask("GET", "/v1/schedules/mine")[0], 404)
                self.assertEqual(self.target.ask("GET", "/v1/watchdogs/mine")[0], 404)

    def test_an_own_rule_cannot_be_aimed_at_a_foreign_queue_later(self):
        for kind, rule in RULES.items():
            for method, fields in (("PUT", {}), ("PATCH", {"Content_Type": "application/merge-patch+json"})):
                with self.subTest(f"{method} {kind}"):
                    path = f"/v1/{kind}/own-{method}"
                    self.assertEqual(self.target.ask("PUT", path, {"queue": "mail-1", **rule}, self.of_prefix)[0], 201)
                    self.assertEqual(self.target.ask(method, path, {"queue": "other", **rule}, self.of_prefix, **fields)[0], 403)
                    self.assertEqual(self.target.ask("GET", path)[1]["settings"]["queue"], "mail-1")

    # A cursor says where a page begins, and not what may be on it.
    def test_pages_that_begin_with_the_cursor_of_an_administrator(self):
        for name in "abc":
            self.target.put(f"{name}-{CANARY}", CANARY, delay="1h")
            self.assertEqual(self.target.ask("PUT", f"/v1/schedules/{name}-{CANARY}", {"queue": "other", **CRON})[0], 201)
        for path in ("queues", "schedules", "queues/mail-1/messages"):
            with self.subTest(path):
                other = path.replace("mail-1", f"a-{CANARY}")
                page = self.target.ask("GET", f"/v1/{other}?limit=1")[1]
                cursor = page.get("next") or page.get("cursor") or "1"
                self.assertNotIn(CANARY, json.dumps(self.target.ask("GET", f"/v1/{path}?limit=1000&cursor={cursor}", token=self.of_prefix)))

    def test_a_batch_of_an_own_and_a_foreign_lease_ends_the_own_one(self):
        self.target.put("mail-lease", "own")
        own = self.begin_lease("mail-lease")
        status, answer = self.target.ask("POST", "/v1/leases:ack", {"leases": [own, self.lease, own]}, self.of_prefix)
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["results"][0]["outcome"], "done")
        self.assertEqual(answer["results"][1]["code"], "lease_ended")
        self.assertEqual(self.target.ask("GET", f"/v1/messages/{self.leased}")[1]["state"], "leased")


if __name__ == "__main__":
    main(tries=300)
