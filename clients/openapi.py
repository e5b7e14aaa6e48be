"""What the generators of the clients' models share: the OpenAPI document of the server, and files that are made from it.

The document's components come from the tables of fields in the server, so a new member of a put or a message is a new member of
each client without a line written by hand. The programs are in the folder that DUEWHEEL_BIN names.
"""

import difflib
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
from daemon import Daemon  # noqa: E402

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
