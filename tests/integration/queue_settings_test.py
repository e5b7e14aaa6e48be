"""Every setting of a queue arrives everywhere.

A setting is one row of a table (CONTRIBUTING.md, "Adding a setting of a queue"). This test names no setting: it reads from
the server's OpenAPI document which there are and what values they take, so the next row is tested without a line here.
Tested are PUT, GET, a PATCH of another setting, the removal, the option of the command line, a restart, and an export with
its import. Its table in docs/http_api.md is tested by http_api_test."""

import pathlib
import re
import tempfile
import unittest

from exports import Exports, duewheel

# Values of what the document calls only a text, a list or an object, by the last word of the setting's name.
TEXTS = {"url": "https://receiver.example/in", "topic": "letters", "key": "some", "secrets": ["mine"], "headers": {"X-Sender": "me"}}
# What a PUT needs beside a setting of the target.
REQUIRED = {"target.webhook.": ("target.webhook.url", TEXTS["url"]), "target.kafka.": ("target.kafka.topic", TEXTS["topic"]),
            "rate": ("rate.count", 3), "groups.rate": ("groups.rate.count", 3)}
OTHER = ("retry.attempts", 9), ("retry.factor", 1.25)  # the second one is for the first


def nested(settings):
    """{"retry": {"attempts": 2}} of {"retry.attempts": 2}"""
    result = {}
    for path, value in settings.items():
        *parents, name = path.split(".")
        place = result
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = value
    return result


def at(settings, path):
    for name in path.split("."):
        settings = settings.get(name) if isinstance(settings, dict) else None
    return settings


class EverySetting(Exports):
    def started(self, *arguments, **how):
        folder = tempfile.TemporaryDirectory(prefix="duewheel-test-")
        self.addCleanup(folder.cleanup)
        secret = pathlib.Path(folder.name) / "secret"
        secret.write_text("whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=")
        secret.chmod(0o600)
        return super().started("--webhooks-post=false", "--kafka-bootstrap=127.0.0.1:9", f"--webhooks-secrets=mine={secret}",
                               *arguments, **how)

    def leaves(self, schema, path=""):
        """{path of a setting: its schema}. Durations are here as they are shown, `lease_ms`, not as `lease` too."""
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[1]]
        found = {}
        for choice in schema.get("oneOf", []):
            if "$ref" in choice:
                found.update(self.leaves(choice, path))
        for name, member in schema.get("properties", {}).items():
            if f"{name}_ms" not in schema["properties"]:
                found.update(self.leaves(member, f"{path}.{name}" if path else name))
        return found or {path: schema}

    def value(self, path, schema):
        """A legal value that is not the default."""
        name = path.rsplit(".", 1)[-1]
        if name in TEXTS:
            return TEXTS[name]
        if "enum" in schema:
            return schema["enum"][-1]
        if name.endswith("_ms"):
            return 7000
        if schema.get("type") == "boolean":
            return True
        if schema.get("type") in ("integer", "number"):
            return schema.get("minimum", 0) + {"integer": 2, "number": 0.5}[schema["type"]]
        self.fail(f"give TEXTS a value for {path}, which is {schema}")

    def shown(self, queue, path, client=None):
        return at(self.ask("GET", f"/v1/queues/{queue}", client=client)["settings"], path)

    def option(self, path):
        """The option of `queue set` for a setting: the end of its name, or the target's name alone."""
        words = path.removeprefix("target.").removesuffix("_ms").replace("_", "-").split(".")
        names = ["-".join(words[first:]) for first in range(len(words))] + words[:1]
        options = [name.removesuffix("s") if f"--{name}" not in self.options else name for name in names]
        return next((f"--{name}" for name in options if f"--{name}" in self.options), None)

    def test_every_setting_arrives_everywhere(self):
        self.schemas = self.ask("GET", "/openapi.json")["components"]["schemas"]
        self.options = set(re.findall(r"--[a-z-]+", duewheel("queue", "set", "--help").stdout))
        settings = {path: self.value(path, schema) for path, schema in self.leaves(self.schemas["QueueSettings"]).items()}
        self.assertGreater(len(settings), 15)
        expected = {}
        for number, (path, value) in enumerate(settings.items()):
            with self.subTest(path):
                queue = f"put-{number}"
                needed = next(([kept] for start, kept in REQUIRED.items() if path.startswith(start)), [])
                self.ask("PUT", f"/v1/queues/{queue}", nested({**dict(needed), path: value}))
                expected[queue] = path, shown = path, self.shown(queue, path)
                if path.endswith(".headers"):  # its values are secret
                    self.assertEqual(list(shown), list(value))
                else:
                    self.assertEqual(shown, value)

                other = OTHER[path == OTHER[0][0]]
                self.ask("PATCH", f"/v1/queues/{queue}", nested(dict([other])))
                self.assertEqual(self.shown(queue, path), shown)
                self.assertEqual(self.shown(queue, other[0]), other[1])

                if (path, value) not in needed:
                    removed = f"removed-{number}"
                    self.ask("PUT", f"/v1/queues/{removed}", nested({**dict(needed), path: value, other[0]: other[1]}))
                    self.ask("PATCH", f"/v1/queues/{removed}", nested({path: None}))
                    self.assertNotEqual(self.shown(removed, path), shown)
                    self.assertEqual(self.shown(removed, other[0]), other[1])

                option = self.option(path)
                self.assertIsNotNone(option, f"`duewheel queue set` has no option for {path}")
                line = f"line-{number}"
                self.ask("PUT", f"/v1/queues/{line}", nested(dict([*needed, other])))
                text = [f"{name}={one}" for name, one in value.items()] if isinstance(value, dict) else value
                text = text[0] if isinstance(text, list) else f"{text}ms" if path.endswith("_ms") else text
                words = [] if value is True else [text]
                set_by_line = duewheel("queue", "set", line, option, *words, server=self.source)
                self.assertEqual(set_by_line.returncode, 0, set_by_line.stderr)
                self.assertEqual(self.shown(line, path), shown)

        self.source.kill()
        self.source.start()
        self.client = self.source.client()
        for queue, (path, shown) in expected.items():
            self.assertEqual(self.shown(queue, path), shown, f"{path} after a restart")

        self.export(self.source, "--with-secrets")
        other = self.started()
        self.do_import(other, self.file)
        client = other.client()
        for queue, (path, shown) in expected.items():
            if not path.endswith(".headers"):  # in no export
                self.assertEqual(self.shown(queue, path, client), shown, f"{path} in an import")


if __name__ == "__main__":
    unittest.main()
