"""What the generators of the clients' models share: the OpenAPI document of the server, and files that are made from it.

The document's components come from the tables of fields in the server, so a new member of a put or a message is a new member of
each client without a line written by hand. The programs are in the folder that DUEWHEEL_BIN names.
"""

import dataclasses
import difflib
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
from daemon import Daemon  # noqa: E402

OPTIONS = {  # name: (schema, what it is)
    "RetryRule": ("Retry", "How failed attempts of a message are repeated."),
    "Repeat": ("Repeat", "Makes a message recurring."),
    "CheckBack": ("Transaction.check_back", "When and where the server asks what became of a prepared message."),
    "Transaction": ("Transaction", "Makes a message prepared: it is delivered after a commit."),
    "PutOptions": ("Put", "Members of a put besides its data."),
    "QueueSettings": ("QueueSettings", "Settings of a queue."),
    "ScheduleSettings": ("ScheduleSettings", "Settings of a schedule besides the data of its messages."),
    "WatchdogSettings": ("WatchdogPut", "Settings of a watchdog besides the data of its message."),
}
ANSWERS = {
    "Attempt": ("Attempt", "One attempt in the timeline of a message."),
    "Check": ("Check", "What a check message asks about."),
    "Receipt": ("PutResponse", "The response to a put."),
    "Message": ("Message", "A message as it is shown."),
    "Lease": ("Delivery", "A message that this consumer has until its lease ends."),
    "QueueState": ("Queue", "The state of a queue."),
}
CONTENT = {"body", "body_base64", "json"}  # what clients call the data of a message


def schemas():
    """The components of the document of this server."""
    with Daemon() as daemon:
        daemon.start()
        status, document = daemon.client().request("GET", "/openapi.json")
        assert status == 200, document
    return document["components"]["schemas"]


def part_of(schemas, path):
    """The schema of this name, or of a member of one: `Transaction.check_back`."""
    name, _, member = path.partition(".")
    return schemas[name]["properties"][member] if member else schemas[name]


@dataclasses.dataclass(frozen=True)
class Types:
    """The types of a language. references: those of named components; scalars: those of string, integer, number and boolean; list_of: a list,
    with {} for the type of its items; texts: an object of text."""
    references: dict
    scalars: dict
    list_of: str
    texts: str

    def of(self, schemas, schema, other):
        """The type of a member; `other` is that of another object, or of what has several types. A null is the absence of a member."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self.references.get(name) or self.of(schemas, schemas[name], other)
        for several in ("anyOf", "oneOf"):
            if several in schema:
                types = {self.of(schemas, each, other) for each in schema[several] if each.get("type") != "null"}
                return types.pop() if len(types) == 1 else other
        kinds = schema.get("type")
        kinds = set(kinds) - {"null"} if isinstance(kinds, list) else {kinds}
        kind = kinds.pop() if len(kinds) == 1 else None
        if kind == "array":
            return self.list_of.format(self.of(schemas, schema.get("items", {}), other))
        if kind == "object" and dict(schema.get("additionalProperties") or {}).get("type") in ("string", ["string", "null"]):
            return self.texts
        if "const" in schema:
            return self.scalars["boolean" if isinstance(schema["const"], bool) else "string"]
        return self.scalars["string"] if "enum" in schema else self.scalars.get(kind, other)


def is_twin(member, properties):
    """Whether it is a member in milliseconds beside one that has the same value as text."""
    return member.endswith("_ms") and member[:-3] in properties


def description_of(schema):
    """What the document says about a member, in one line; empty if nothing."""
    text = re.sub(r"\s+", " ", schema.get("description") or "").removeprefix("Milliseconds. ")
    return re.sub("^Of ", "For ", text)


def compare_or_write(file, text, program):
    """Exit code 0 if the file has this text; otherwise 1, with the difference on standard output. With DUEWHEEL_RECORD=1 it is
    written. `program` is the generator's path in the project."""
    if os.environ.get("DUEWHEEL_RECORD"):
        file.write_text(text)
        return 0
    found = list(difflib.unified_diff(file.read_text().splitlines(), text.splitlines(), file.name, f"{file.name} of this server", lineterm=""))
    if found:
        print("\n".join(found), f"\nrun DUEWHEEL_RECORD=1 {program}", sep="\n")
    return 1 if found else 0
