#!/usr/bin/env python3
"""Writes the options and answers of calls as types of C++, from the OpenAPI document of the server: models.h, and
model_members.h, which names their members for JSON.

    generate.py            compares the files with the document of this server; exit code 1 if they are not the same
    DUEWHEEL_RECORD=1      writes them

Exit code 77: there is no clang-format-14.
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from openapi import ANSWERS, CONTENT, OPTIONS, Types, compare_or_write, description_of, is_twin, part_of, schemas  # noqa: E402

MODELS, MEMBERS = HERE / "include/duewheel/client/models.h", HERE / "src/model_members.h"
SKIPPED = 77
TYPES = Types(references={"Duration": "Duration", "Instant": "Instant", "Retry": "RetryRule", "Repeat": "Repeat", "Transaction": "Transaction",
                          "Attempt": "Attempt", "Check": "Check"},
              scalars={"string": "std::string", "integer": "std::int64_t", "number": "double", "boolean": "bool"},
              list_of="std::vector<{}>", texts="Headers")
PLAIN = {"std::string", "bool", "Json", "Headers"}  # whose empty value is an absent member; the others are optional
NUMBERS = {"std::int64_t", "double", "Duration"}  # not optional in answers, where 0 says the same
NAMES = {"lease": "token", "namespace": "in_namespace"}  # of answers
HEAD = """// Options and answers of calls. Written by generate.py from the OpenAPI document of the server: do not change it by hand.
//
// Members that are empty, false or without a value are absent. The members of options are in the order in which a designated
// initializer names them. An answer keeps the object that the server sent in `raw`, with members that are newer than this client.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "duewheel/client/content.h"

namespace duewheel::client {
"""
HEAD_OF_MEMBERS = """// The members of options and answers by their names in JSON, in order. Written by generate.py: do not change it by hand.
#pragma once

#include <concepts>
#include <type_traits>

#include "duewheel/client/models.h"

namespace duewheel::client {

template <class Model, class Wanted>
concept Is = std::same_as<std::remove_const_t<Model>, Wanted>;
"""


def declared(name, kind, description, plain):
    """A member of a struct, with the first sentence of its description."""
    text = re.sub(r"(?<=\.)\s.*", "", description)
    comment = f"    // {text}\n" if text and "--" not in text else ""
    default = " = false" if kind == "bool" else " = 0" if kind == "std::int64_t" and kind in plain else "{}"
    kind = kind if kind in plain or kind.startswith("std::vector") else f"std::optional<{kind}>"
    return f"{comment}    {kind} {name}{default};"


def option_fields(all_schemas, schema):
    """(member, field, type, description) of each; the twins in milliseconds are for languages without durations."""
    for member, each in schema["properties"].items():
        if member not in CONTENT and not is_twin(member, schema["properties"]):
            kind = "CheckBack" if member == "check_back" else TYPES.of(all_schemas, each, "Json")
            yield member, member, kind, description_of(each)


def answer_fields(all_schemas, schema):
    """The same for answers, in which instants and durations are milliseconds."""
    properties = schema["properties"]
    for member, each in properties.items():
        if member in CONTENT or f"{member}_ms" in properties:
            continue
        field, kind = NAMES.get(member, member), TYPES.of(all_schemas, each, "Json")
        if kind in ("RetryRule", "Repeat", "Transaction"):
            kind = "Json"
        if member.endswith("_ms"):
            field = member.removesuffix("_ms")
            is_span = member in ("lateness_ms", "wait_ms") or field + "_in" in properties or "_in_" in member
            kind = "Duration" if is_span else "Instant"
        yield member, field, kind, description_of(each)


def texts(all_schemas):
    """The texts of both files."""
    models, members = [HEAD], [HEAD_OF_MEMBERS]
    for table, fields_of, plain in ((OPTIONS, option_fields, PLAIN), (ANSWERS, answer_fields, PLAIN | NUMBERS)):
        for name, (source, comment) in table.items():
            schema = part_of(all_schemas, source)
            fields = list(fields_of(all_schemas, schema))
            own = [] if table is OPTIONS else ["    std::string raw{};"]
            own += ["    Content content{};"] if table is ANSWERS and "body" in schema["properties"] else []
            models.append("\n".join([f"// {comment}", f"struct {name} {{",
                                     *(declared(field, kind, text, plain) for _, field, kind, text in fields), *own, "};\n"]))
            members.append("\n".join([f"template <Is<{name}> Model, class Each>", "void for_each_member(Model& model, Each&& each) {",
                                      *(f'    each("{member}", model.{field});' for member, field, _, _ in fields), "}\n"]))
    return "\n".join([*models, "}  // namespace duewheel::client\n"]), "\n".join([*members, "}  // namespace duewheel::client\n"])


def formatted(text):
    return subprocess.run(["clang-format-14", f"--assume-filename={MODELS}"], input=text, capture_output=True, text=True, check=True).stdout


def main():
    if not shutil.which("clang-format-14"):
        print("skipped: there is no clang-format-14")
        return SKIPPED
    models, members = map(formatted, texts(schemas()))
    program = "clients/cpp/generate.py"
    return compare_or_write(MODELS, models, program) | compare_or_write(MEMBERS, members, program)


if __name__ == "__main__":
    sys.exit(main())
