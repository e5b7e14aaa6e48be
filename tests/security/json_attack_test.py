"""Bodies that are small to send and large to read, or that two readers of JSON understand differently: each is refused, at once, without
memory, and leaves nothing behind.
"""

import gzip
import unittest

from attacks import Target, main
from raw_sockets import memory_bytes, processor_s, request

MIB = 1 << 20
PUT = "/v1/queues/q/messages"


class Bodies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.target = cls.enterClassContext(Target())

    def send(self, body, path=PUT, method="POST", **fields):
        body = body if isinstance(body, bytes) else body.encode()
        fields = {"Content_Type": "application/json", "Content_Length": len(body), "Authorization": f"Bearer {self.target.root}"} | fields
        return int(self.target.send(request(method, path, **fields) + body).split()[1])

    def assert_refused(self, status):
        self.assertIn(status, (400, 413, 415, 501))
        self.assertEqual(self.target.ask("GET", "/v1/queues")[1]["queues"], [])

    def test_bombs(self):
        self.send("{}")
        before, used = memory_bytes(self.target.daemon), processor_s(self.target.daemon)
        for what, body in {"deep arrays": "[" * MIB, "deep objects": '{"a":' * 200_000, "deep content": '{"json":' + "[" * 500_000 + "]" * 500_000 + "}",
                           "deep content of objects": '{"json":' + '{"a":' * 33 + "1" + "}" * 34, "many members": "{" + ",".join(f'"{n}":1' for n in range(90_000)) + "}",
                           "many equal members": "{" + '"a":1,' * 150_000 + '"a":1}', "long number": '{"delay_ms":' + "9" * MIB + "}",
                           "long fraction": '{"delay_ms":0.' + "0" * MIB + "1}", "huge exponent": '{"delay_ms":1e999999999}',
                           "exponent of many digits": '{"delay_ms":1e' + "9" * MIB + "}", "many headers": '{"body":"x","headers":{' + ",".join(f'"h{n}":"x"' for n in range(50_000)) + "}}",
                           "long header": '{"body":"x","headers":{"h":"' + "x" * 500_000 + '"}}', "many spaces": " " * (2 * MIB),
                           "long name": '{"' + "a" * MIB + '":1}', "many escapes": '{"key":"' + "\\u0041" * 200_000 + '"}',
                           "many leases": '{"leases":[' + ",".join(['"x"'] * 50_000) + "]}"}.items():
            with self.subTest(what):
                self.assert_refused(self.send(body, "/v1/leases:ack" if "leases" in what else PUT))
        self.assertLess(memory_bytes(self.target.daemon) - before, 64 * MIB)
        self.assertLess(processor_s(self.target.daemon) - used, 5)

    def test_what_two_readers_understand_differently(self):
        for what, body in {"member twice": '{"body":"a","body":"b"}', "member twice, once escaped": '{"body":"a","\\u0062ody":"b"}',
                           "other case": '{"Body":"a"}', "member of a header twice": '{"body":"a","headers":{"h":"1","H":"2"}}',
                           "two values": '{"body":"a"}{"body":"b"}', "trailing comma": '{"body":"a",}', "comment": '{"body":"a"/**/}', "single quotes": "{'body':'a'}",
                           "NaN": '{"body":"a","priority":NaN}', "infinity": '{"body":"a","priority":1e400}', "leading zero": '{"body":"a","priority":01}',
                           "plus": '{"body":"a","priority":+1}', "hexadecimal": '{"body":"a","priority":0x1}', "half an integer": '{"body":"a","priority":1.5}',
                           "number beyond 32 bits": '{"body":"a","priority":4294967296}', "text for a number": '{"body":"a","priority":"1"}',
                           "high surrogate": '{"body":"\\ud800"}', "low surrogate": '{"body":"\\udc00"}', "surrogates the wrong way": '{"body":"\\udc00\\ud800"}',
                           "raw control": '{"body":"a\x01"}', "raw line feed": '{"body":"a\n"}', "byte order mark": '\ufeff{"body":"a"}',
                           "NUL behind": '{"body":"a"}\0', "array": '[{"body":"a"}]', "text": '"body"', "null": "null"}.items():
            with self.subTest(what):
                self.assert_refused(self.send(body))
        for what, body in {"UTF-16": '{"body":"a"}'.encode("utf-16"), "UTF-32": '{"body":"a"}'.encode("utf-32"), "overlong": b'{"body":"\xc0\x80"}',
                           "surrogate in UTF-8": b'{"body":"\xed\xa0\x80"}', "half a character": b'{"body":"\xe2\x82"}', "beyond Unicode": b'{"body":"\xf4\x90\x80\x80"}'}.items():
            with self.subTest(what):
                self.assert_refused(self.send(body))

    def test_bombs_of_other_kinds(self):
        bomb = gzip.compress(b" " * (64 * MIB))
        for coding in ("gzip", "deflate", "br", "zstd", "gzip, gzip", "GZIP"):
            with self.subTest(coding):
                self.assert_refused(self.send(bomb, Content_Encoding=coding))
        with self.subTest("transfer coding"):
            self.assert_refused(self.send(bomb, Content_Length=None, Transfer_Encoding="gzip, chunked"))

    # Each line is a message of its own, or is refused alone.
    def test_lines_of_a_batch(self):
        for what, body in {"endless line": b'{"body":"' + b"x" * (3 * MIB), "two in one": b'{"body":"x"}\r{"body":"y"}', "deep": b"[" * 100_000 + b"\n",
                           "many": b'{"body":"x"}\n' * 5000, "empty ones": b"\n" * MIB}.items():
            with self.subTest(what):
                self.send(body, "/v1/queues/q/messages:batch", Content_Type="application/x-ndjson")
                self.assertEqual(self.target.ask("GET", "/v1/queues")[1]["queues"], [])

    def test_a_patch_of_settings(self):
        for what, body in {"deep": '{"a":' * 100 + "1" + "}" * 100, "prototype": '{"__proto__":{"paused":true}}', "twice": '{"paused":true,"paused":false}',
                           "operations": '[{"op":"replace","path":"/paused","value":true}]'}.items():
            with self.subTest(what):
                self.assert_refused(self.send(body, "/v1/queues/q", "PATCH", Content_Type="application/merge-patch+json"))


if __name__ == "__main__":
    main(tries=64)
