#!/usr/bin/env python3
"""Writes models.go, the options and answers of calls as types of Go, from the OpenAPI document of the server.

    generate.py            compares the file with the document of this server; exit code 1 if it is not the same
    DUEWHEEL_RECORD=1      writes it

The programs are in the folder that DUEWHEEL_BIN names.
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from openapi import ANSWERS, CONTENT, OPTIONS, Types, compare_or_write, description_of, is_twin, part_of, schemas as schemas_of_server  # noqa: E402

FILE = HERE / "models.go"
OPTIONAL = {"int64": "*int64", "float64": "*float64"}  # in options, where 0 is a value too
TYPES = Types(references={"Duration": "time.Duration", "Instant": "time.Time", "Retry": "*RetryRule", "Repeat": "*Repeat",
                          "Transaction": "*Transaction", "Attempt": "Attempt", "Check": "*Check"},
              scalars={"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}, list_of="[]{}", texts="map[string]string")
NAMES = {"lease": "Token"}  # of a delivered message
INITIALS = {"id", "ms", "dst", "iso"}
HEAD = """// Options and answers of calls. Written by generate.py from the OpenAPI document of the server: do not change it by hand.

package duewheel

import (
	"encoding/json"
	"time"
)
"""


def go_name(member):
    return "".join(part.upper() if part in INITIALS else part.capitalize() for part in member.split("_"))


def lowered(text):
    return text[0].lower() + text[1:]


def described(schema):
    text = re.sub(r"(?<=\.)\s.*", "", description_of(schema))  # the first sentence
    return f" // {text}" if text and "--" not in text else ""


def options(schemas, name, schema, comment):
    """A struct whose zero fields are absent. The twins in milliseconds are for languages without durations."""
    lines = [f"// {name}: {lowered(comment)} Fields that are zero are absent.", f"type {name} struct {{"]
    for member, each in schema["properties"].items():
        if member in CONTENT or is_twin(member, schema["properties"]):
            continue
        text = TYPES.of(schemas, each, "any")
        text = "*CheckBack" if member == "check_back" else OPTIONAL.get(text, text)
        lines.append(f"\t{go_name(member)} {text} `json:\"{member}\"`{described(each)}")
    return "\n".join([*lines, "}"])


def answers(schemas, name, schema, comment):
    """A struct, with a method for each instant and duration, which are milliseconds in JSON."""
    properties, methods = schema["properties"], []
    lines = [f"// {name}: {lowered(comment)}", f"type {name} struct {{", *(["\tcontent"] if "body" in properties else []), "\traw"]
    for member, each in properties.items():
        if member in CONTENT or f"{member}_ms" in properties:
            continue
        field, text = go_name(member), TYPES.of(schemas, each, "json.RawMessage")
        if member.endswith("_ms"):
            is_span = member in ("lateness_ms", "wait_ms") or member.removesuffix("_ms") + "_in" in properties or "_in_" in member
            kind, made = ("time.Duration", f"time.Duration(f.{field}) * time.Millisecond") if is_span else ("time.Time", f"instantOf(f.{field})")
            text, method = "int64", field.removesuffix("MS")
            said = described(each).removeprefix(" // ")
            methods.append(f"// {method} is {field} as {'a duration' if is_span else 'an instant, zero if there is none'}.{' ' + said if said else ''}\n"
                           f"func (f *{name}) {method}() {kind} {{ return {made} }}")
        text = "ID" if member == "id" else "json.RawMessage" if text in ("*RetryRule", "*Repeat", "*Transaction") else text
        lines.append(f"\t{NAMES.get(member, field)} {text} `json:\"{member}\"`{described(each)}")
    return "\n\n".join(["\n".join([*lines, "}"]), *methods])


def models(schemas):
    parts = [HEAD.rstrip("\n")]
    parts += [options(schemas, name, part_of(schemas, source), comment) for name, (source, comment) in OPTIONS.items()]
    parts += [answers(schemas, name, part_of(schemas, source), comment) for name, (source, comment) in ANSWERS.items()]
    return "\n\n".join(parts) + "\n"


def formatted(text):
    return subprocess.run(["gofmt"], input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(compare_or_write(FILE, formatted(models(schemas_of_server())), "clients/go/generate.py"))
