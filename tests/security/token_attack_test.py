"""Tokens that are guessed, malformed, sent in places where none is expected, or used to get more rights than they have."""

import re
import unittest

from attacks import Target, main
from raw_sockets import request

ALL = ["put", "read", "consume", "cancel", "schedule", "admin"]


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = cls.enterClassContext(Target())

    def answer(self, **fields):
        return self.target.send(request("GET", "/v1/queues", **fields))

    # Whatever is wrong with a token, the answer is the same: nothing says whether its id exists, or how much of its secret is right.
    def test_wrong_ones_are_answered_alike(self):
        root = self.target.root
        told = set()
        last = "A" if root[-1] != "A" else "B"
        for what, token in {"last character": root[:-1] + last, "first character of the secret": root.replace("root_", "root_" + last)[:len(root)],
                            "unknown id": root.replace("root", "none"), "no id": root.replace("root", ""), "other case": root.upper(),
                            "case of the id": root.replace("root", "ROOT"), "longer": root + "A", "shorter": root[:-1], "hash": "dw_root_" + "0" * 64,
                            "another kind": "whsec_" + "A" * 32, "empty": "", "id as a path": root.replace("root", "../root"),
                            "padding": root + "=", "NUL in the text": root + "%00"}.items():
            with self.subTest(what):
                answer = self.answer(Authorization=f"Bearer {token}")
                self.assertEqual(int(answer.split()[1]), 401)
                told.add(re.sub(rb"Date: [^\r]*", b"", answer))
        self.assertEqual(len(told), 1)

    def test_a_token_in_other_places(self):
        root = self.target.root
        for what, fields in {"cookie": {"Cookie": f"duewheel_session={root}"}, "basic": {"Authorization": f"Basic {root}"},
                             "no scheme": {"Authorization": root}, "X-Api-Key": {"X_Api_Key": root}, "X-Authorization": {"X_Authorization": f"Bearer {root}"},
                             "proxy": {"Proxy_Authorization": f"Bearer {root}"}, "two in one": {"Authorization": f"Bearer {root}, Bearer {root}"}}.items():
            with self.subTest(what):
                self.assertEqual(int(self.answer(**fields).split()[1]), 401)
        for what, path in {"access_token": f"/v1/queues?access_token={root}", "token": f"/v1/queues?token={root}"}.items():
            with self.subTest(what):
                self.assertEqual(int(self.target.send(request("GET", path)).split()[1]), 401)
        with self.subTest("two fields"):
            sent = request("GET", "/v1/queues", Authorization="Bearer x").replace(b"\r\n\r\n", f"\r\nAuthorization: Bearer {root}\r\n\r\n".encode())
            self.assertIn(int(self.target.send(sent).split()[1]), (400, 401))

    # A proxy that says where a request comes from is not believed: nothing depends on it.
    def test_fields_of_a_proxy_give_no_rights(self):
        for field in ("X_Forwarded_For", "X_Real_IP", "Forwarded", "X_Forwarded_User", "X_Remote_User", "X_Client_Cert", "X_SSL_Client_SAN",
                      "X_Original_URL", "X_Rewrite_URL"):
            with self.subTest(field):
                self.assertEqual(int(self.answer(**{field: "/healthz" if "URL" in field else "127.0.0.1"}).split()[1]), 401)

    def test_more_rights(self):
        limited = {"of a namespace": self.target.token("a", *ALL, namespaces=["shop"]), "of a prefix": self.target.token("b", *ALL, queues="q"),
                   "without admin": self.target.token("c", *ALL[:-1])}
        for who, token in limited.items():
            for what, words in {"makes one": ("PUT", "/v1/tokens/new", {"scopes": ALL}), "widens its own": ("PUT", "/v1/tokens/a", {"scopes": ALL}),
                                "patches its own": ("PATCH", "/v1/tokens/a", {"namespaces": None}), "rotates another": ("POST", "/v1/tokens/root:rotate", {}),
                                "removes another": ("DELETE", "/v1/tokens/root"), "lists them": ("GET", "/v1/tokens"),
                                "id as a path": ("PUT", "/v1/tokens/..%2Ftokens%2Fnew", {"scopes": ALL}),
                                "through a namespace": ("PUT", "/v1/namespaces/shop/tokens/new", {"scopes": ALL})}.items():
                with self.subTest(f"token {who} {what}"):
                    self.assertIn(self.target.ask(*words, token=token)[0], (400, 403, 404))
                    self.assertEqual(self.target.ask("GET", "/v1/tokens/new")[0], 404)
        self.assertEqual(self.target.ask("GET", "/v1/tokens/a")[1]["namespaces"], ["shop"])

    # What limits a token is never read as no limit.
    def test_limits_that_are_empty_or_odd(self):
        for what, members in {"no namespaces": {"namespaces": []}, "empty namespace": {"namespaces": [""]}, "any": {"namespaces": ["*"]},
                              "null in a list": {"namespaces": [None]}, "text": {"namespaces": "shop"}, "empty prefix": {"queues": ""},
                              "unknown scope": {"scopes": ["root"]}, "no scope": {"scopes": []}, "expiry in the past": {"expires": "2001-01-01T00:00:00Z"},
                              "zero": {"expires_in": "0s"}, "negative": {"expires_in": "-1s"}}.items():
            with self.subTest(what):
                status, answer = self.target.ask("PUT", "/v1/tokens/odd", {"scopes": ["read"], **members})
                if status == 201:
                    self.assertIn(self.target.ask("GET", "/v1/queues", token=answer["token"])[0], (401, 403))
                    self.target.ask("DELETE", "/v1/tokens/odd")
                else:
                    self.assertEqual(status, 400, answer)

    def test_secrets_are_random_and_in_no_answer(self):
        secrets = {self.target.token(f"r{number}", "read").split("_", 2)[2] for number in range(50)}
        self.assertEqual(len(secrets), 50)
        self.assertEqual({len(secret) for secret in secrets}, {43})
        self.assertEqual([each for each in range(43) if len({secret[each] for secret in secrets}) < 5], [], "each character differs")
        for path in ("/v1/tokens", "/v1/tokens/r1", "/metrics", "/v1/stats"):
            page = str(self.target.ask("GET", path))
            self.assertFalse([secret for secret in secrets if secret in page])


if __name__ == "__main__":
    main(tries=69)
