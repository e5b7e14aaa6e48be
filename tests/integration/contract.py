"""The OpenAPI document that a running server serves at /openapi.json, and checks of responses against it. Shared by the
tests of the contract; their Python packages are those of requirements.txt, in build/python."""

import copy
import http.client
import itertools
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build" / "python" / "bin" / "python"
METHODS = ("get", "put", "post", "delete", "patch", "head")
PROBLEM = "application/problem+json"


def with_packages():
    """Runs the calling test with the Python that has the packages; without them it fails and says how to get them."""
    if pathlib.Path(sys.prefix) == PYTHON.parent.parent:
        return
    if not PYTHON.exists():
        sys.exit("This test needs the Python packages of tests/integration/requirements.txt in build/python, which are not "
                 "there. Run ./dev packages, which has pip fetch them; it needs Debian's python3-venv and an index of "
                 "Python packages, or a directory of wheels named in PIP_FIND_LINKS.")
    sys.exit(subprocess.run([PYTHON, *sys.argv]).returncode)


class Contract:
    def __init__(self, client):
        client.connection.request("GET", "/openapi.json")
        answer = client.connection.getresponse()
        self.document = json.loads(answer.read())
        self.closed = closed(self.document)

    def operations(self):
        """(path, method, operation) of each."""
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method in METHODS:
                    yield path, method, operation

    def resolve(self, value):
        while "$ref" in value:
            target = self.document
            for name in value["$ref"].split("/")[1:]:
                target = target[name]
            value = target
        return value

    def codes(self, operation):
        """{code: status}"""
        found = {}
        for status, response in operation["responses"].items():
            content = self.resolve(response).get("content", {}).get(PROBLEM)
            for code in content["schema"]["properties"]["code"]["enum"] if content else ():
                found[code] = int(status)
        return found

    def check(self, path, method, answer):
        """Fails unless the answer is one that the operation may give: status, fields, media type, every member."""
        operation = self.document["paths"][path][method]
        response = operation["responses"].get(str(answer.status))
        assert response is not None, f"{method} {path} answers {answer.status}, which its contract lacks: {answer.text}"
        response = self.resolve(response)
        for name, field in response.get("headers", {}).items():
            if self.resolve(field).get("required"):
                assert name.lower() in answer.headers, f"{method} {path} {answer.status} lacks the field {name}"
        media_type = answer.headers["content-type"].split(";")[0]
        if method == "head":
            assert answer.text == "", answer.text
            return
        content = response["content"].get(media_type)
        assert content is not None, f"{method} {path} {answer.status} has the media type {media_type}"
        if "x-line-schema" in content:
            for line in answer.text.splitlines():
                self.check_value(json.loads(line), content["x-line-schema"])
        elif media_type.endswith("json"):
            self.check_value(json.loads(answer.text), content["schema"])

    def check_value(self, value, schema):
        from jsonschema import Draft202012Validator
        # The schema within the whole document, so that its references lead somewhere.
        Draft202012Validator({**closed(schema), "components": self.closed["components"]}).validate(value)


def closed(value):
    """The document with every object that lists its members closed to others: answers may get further members one day,
    but not without the contract."""
    if isinstance(value, list):
        return [closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    copied = {name: closed(each) for name, each in value.items()}
    if copied.get("type") == "object" and "properties" in copied:
        copied.setdefault("additionalProperties", False)
    return copied


def with_lines_as_arrays(document):
    """For a generator that knows no NDJSON: what has lines is an array of them."""
    document = copy.deepcopy(document)
    for item in document["paths"].values():
        for method, operation in item.items():
            if method not in METHODS:
                continue
            for place in (operation.get("requestBody", {}), *operation["responses"].values()):
                for content in place.get("content", {}).values():
                    if "x-line-schema" in content:
                        content["schema"] = {"type": "array", "items": content.pop("x-line-schema")}
    return document


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    @property
    def code(self):
        return json.loads(self.text)["code"] if self.headers["content-type"] == PROBLEM else None


SOURCES = itertools.cycle(f"127.0.0.{number}" for number in range(2, 255))


def ask(port, method, target, headers=None, body=None):
    """One request on a connection of its own, with exactly these fields beside Host and Content-Length. Each comes from the next
    loopback address, so that no limit per address refuses it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(next(SOURCES), 0))
    try:
        fields = dict(headers or {})
        connection.putrequest(method, target, skip_host="Host" in fields, skip_accept_encoding=True)
        if body is not None:
            fields.setdefault("Content-Length", str(len(body)))
        for name, value in fields.items():
            for each in value if isinstance(value, list) else [value]:
                connection.putheader(name, each)
        connection.endheaders()
        try:
            if body:
                connection.send(body)
        except OSError:
            pass  # refused before all of it was sent
        answer = connection.getresponse()
        text = answer.read().decode()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)
    finally:
        connection.close()
