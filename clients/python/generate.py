#!/usr/bin/env python3
"""Writes src/duewheel/models.py, the options and answers of calls as types of Python, from the OpenAPI document of the server.

    generate.py            compares the file with the document of this server; exit code 1 if it is not the same
    DUEWHEEL_RECORD=1      writes it

The programs are in the folder that DUEWHEEL_BIN names.
"""

import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from openapi import CONTENT, compare_or_write, description_of, is_twin, schemas as schemas_of_server  # noqa: E402

FILE = HERE / "src" / "duewheel" / "models.py"
OPTIONS = {"Retry": "Retry", "Repeat": "Repeat", "Transaction": "Transaction", "PutOptions": "Put", "Changes": "Move",
           "QueueSettings": "QueueSettings", "ScheduleSettings": "ScheduleSettings", "WatchdogSettings": "WatchdogPut"}
ANSWERS = {"Attempt": "Attempt", "Check": "Check", "ReceiptFields": "PutResponse", "MessageFields": "Message", "LeaseFields": "Delivery",
           "QueueFields": "Queue"}
BY_REFERENCE = {"Duration": "datetime.timedelta", "Instant": "datetime.datetime", "DurationMs": "datetime.timedelta",
                "InstantMs": "datetime.datetime", "LatenessMs": "datetime.timedelta", "WaitMs": "datetime.timedelta",
                "Retry": "Retry", "Repeat": "Repeat", "Transaction": "Transaction", "Attempt": "Attempt", "Check": "Check"}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "Mapping[str, Any]"}
HEAD = '''"""Options and answers of calls. Written by generate.py from the OpenAPI document of the server: do not change it by hand."""

from __future__ import annotations

import datetime
from typing import Any, List, Literal, Mapping, Optional, TypedDict, Union


def instant_of(value_ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(value_ms / 1000, datetime.timezone.utc)


class Fields:
    """What the server sent, as `raw`: members that are newer than this client are found there."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self.raw)!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Fields) and other.raw == self.raw

    __hash__ = None  # type: ignore[assignment]
'''


def type_of(schemas, schema):
    """The type of a member."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return BY_REFERENCE.get(name) or type_of(schemas, schemas[name])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            types = dict.fromkeys(type_of(schemas, each) for each in schema[several])
            return next(iter(types)) if len(types) == 1 else f"Union[{', '.join(types)}]"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(each).replace(chr(39), chr(34)) for each in schema['enum'])}]"
    if "const" in schema:
        return type(schema["const"]).__name__
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return f"Union[{', '.join(type_of(schemas, {**schema, 'type': each}) for each in kinds)}]"
    if kinds == "array":
        return f"List[{type_of(schemas, schema.get('items', {}))}]"
    if kinds == "null":
        return "None"
    if kinds == "object" and dict(schema.get("additionalProperties") or {}).get("type") == "string":
        return "Mapping[str, str]"
    return SCALARS.get(kinds, "Any")


def options(schemas, name, schema):
    """A TypedDict; all of it is optional. The twins in milliseconds are for languages without durations."""
    lines = [f"class {name}(TypedDict, total=False):"]
    for member, each in schema["properties"].items():
        if member not in CONTENT and not is_twin(member, schema["properties"]):
            lines.append(f"    {member}: {type_of(schemas, each)}")
    return "\n".join(lines)


def answers(schemas, name, schema):
    """A class with a property for each member. Instants and durations are made from the member in milliseconds."""
    properties, required = schema["properties"], set(schema.get("required", ()))
    lines = [f"class {name}(Fields):"]
    for member, each in properties.items():
        if member in CONTENT or f"{member}_ms" in properties:
            continue
        text, value = type_of(schemas, each), f'self.raw["{member}"]' if member in required else "value"
        text = "datetime.timedelta" if text == "int" and member.endswith("_ms") else text
        made = {"datetime.datetime": f"instant_of({value})", "datetime.timedelta": f"datetime.timedelta(milliseconds={value})",
                "Attempt": f"Attempt({value})", "Check": f"Check({value})", "List[Attempt]": f"[Attempt(each) for each in {value}]",
                "str": f"str({value})", "int": f"int({value})", "bool": f"bool({value})"}.get(text, value)
        lines += ["", "    @property"]
        if member in required:
            lines += [f"    def {member.removesuffix('_ms')}(self) -> {text}:", *described(each)]
            lines.append(f"        return {made}" if made != value else f"        value: {text} = {value}\n        return value")
            continue
        if text == "bool":  # present and true, or absent
            lines += [f"    def {member}(self) -> bool:", *described(each), f'        return bool(self.raw.get("{member}"))']
            continue
        shown = text if text == "Any" else f"Optional[{text}]"
        lines += [f"    def {member.removesuffix('_ms')}(self) -> {shown}:", *described(each)]
        if made == value:
            lines.append(f'        value: {shown} = self.raw.get("{member}")\n        return value')
        else:
            lines.append(f'        value = self.raw.get("{member}")\n        return None if value is None else {made}')
    return "\n".join(lines)


def described(schema):
    text = description_of(schema)
    if not text:
        return []
    lines = textwrap.wrap('"""' + text + '"""', 128)
    return ["        " + line for line in lines]


def models(schemas):
    parts = [HEAD]
    parts += [options(schemas, name, schemas[source]) + "\n" for name, source in OPTIONS.items()]
    parts += [answers(schemas, name, schemas[source]) + "\n" for name, source in ANSWERS.items()]
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(compare_or_write(FILE, models(schemas_of_server()), "clients/python/generate.py"))
