#!/usr/bin/env python3
"""Writes the options and answers of calls as classes of Java, from the OpenAPI document of the server: the files that WRITTEN begins.

    generate.py            compares the files with the document of this server; exit code 1 if they are not the same
    DUEWHEEL_RECORD=1      writes them

The programs are in the folder that DUEWHEEL_BIN names.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from openapi import ANSWERS, CONTENT, OPTIONS as COMMON, Types, compare_or_write, description_of, is_twin, part_of, schemas as schemas_of_server  # noqa: E402

PLACE = HERE / "duewheel-client" / "src" / "main" / "java" / "duewheel"
WRITTEN = "// Written by generate.py from the OpenAPI document of the server: do not change it by hand."
OPTIONS = {  # class: (schema, what it is)
    **{name.removesuffix("Options"): each for name, each in COMMON.items()},
    "Changes": ("Move", "What changes of a message. A null removes a member."),
    "LeaseOptions": ("Lease", "Members of a lease call."),
    "FailOptions": ("Fail", "Members of a failed attempt besides its reason."),
    "ExtendOptions": ("Extend", "Members of an extension."),
}
# Members by hand, before the others.
MORE = {
    "Put": """
    /** A put that is due now, to be refined. */
    public static Put now() {
        return new Put();
    }

    /** A put that is due after a time. */
    public static Put in(Duration delay) {
        return new Put().delay(delay);
    }

    /** A put that is due at an instant. */
    public static Put at(Instant due) {
        return new Put().due(due);
    }

    /** Adds a header. */
    public Put header(String name, String value) {
        return withEntry("headers", name, value);
    }
""",
    "Message": """
    /** Whether the message is done, cancelled, expired or dead. */
    public boolean hasEnded() {
        return switch (state()) {
            case "done", "cancelled", "expired", "dead" -> true;
            default -> false;
        };
    }
""",
    "Changes": """
    /** The new data, as that of a put. */
    public Changes data(Object value) {
        return with(DATA, value);
    }
""",
    "CheckBack": """
    /** The server asks in this queue. */
    public static CheckBack to(String queue) {
        return new CheckBack().queue(queue);
    }
""",
}
LEFT_OUT = {"FailOptions": {"reason"}}
TYPES = Types(references={"Duration": "Duration", "Instant": "Instant", "Retry": "RetryRule", "Repeat": "Repeat",
                          "Transaction": "Transaction", "Attempt": "Attempt", "Check": "Check"},
              scalars={"string": "String", "integer": "long", "number": "double", "boolean": "boolean"},
              list_of="List<{}>", texts="Map<String, String>")
NAMES = {"lease": "token", "wait": "waited"}  # of a delivered message; Object has a wait() already
PARTS = {"String": "text({})", "long": "number({})", "double": "fraction({})", "boolean": "isTrue({})", "Instant": "instant({})", "Duration": "duration({})",
         "Map<String, String>": "texts({})", "JsonNode": "part({})", "List<String>": "list({}, JsonNode::asText)",
         "List<Attempt>": "list({}, each -> new Attempt(wire, each))", "Check": "object({}, each -> new Check(wire, each))"}
IMPORTS = {"Duration": "java.time.Duration", "Instant": "java.time.Instant", "Map": "java.util.Map", "List": "java.util.List",
           "JsonNode": "com.fasterxml.jackson.databind.JsonNode"}


def java_name(member):
    first, *others = member.split("_")
    return first + "".join(part.capitalize() for part in others)


def comment(*parts):
    """A comment of a member; nothing if there is nothing to say."""
    text = " ".join(part for part in parts if part).replace("&", "&amp;").replace("<", "&lt;")
    return f"    /** {text} */\n" if text else ""


def described(schema):
    text = re.sub(r"(?<=\.)\s.*", "", description_of(schema))  # the first sentence
    return text if "--" not in text else ""


def options(schemas, name, schema):
    """A class whose methods return a changed copy. The twins in milliseconds are for languages without durations."""
    methods = []
    for member, each in schema["properties"].items():
        if member in CONTENT or is_twin(member, schema["properties"]) or member in LEFT_OUT.get(name, ()):
            continue
        text, field = "CheckBack" if member == "check_back" else TYPES.of(schemas, each, "Object"), java_name(member)
        methods.append(f"{comment(described(each))}    public {name} {field}({text} value) {{\n        return with(\"{member}\", value);\n    }}\n")
    return f"""public final class {name} extends Options<{name}> {{
    public {name}() {{
        super(java.util.Map.of());
    }}

    private {name}(java.util.Map<String, Object> members) {{
        super(members);
    }}

    @Override
    {name} copy(java.util.Map<String, Object> members) {{
        return new {name}(members);
    }}
{MORE.get(name, "")}
""" + "\n".join(methods) + "}\n"


def answers(schemas, name, schema):
    """A class with a method for each member. Instants and durations are made from the member in milliseconds."""
    properties, methods = schema["properties"], []
    for member, each in properties.items():
        if member in CONTENT or f"{member}_ms" in properties:
            continue
        text, bare = TYPES.of(schemas, each, "JsonNode"), member.removesuffix("_ms")
        if bare != member:
            is_span = bare in ("lateness", "wait") or f"{bare}_in" in properties or "_in_" in member
            text = "Duration" if is_span else "Instant"
        if text not in PARTS:
            text = "JsonNode"
        absent = "Null if there is none." if text not in ("boolean", "long", "double") and member not in schema.get("required", ()) else ""
        if text.startswith(("List", "Map")):
            absent = ""
        made = PARTS[text].format(f'"{member}"')
        field = java_name(bare)
        methods.append(f"{comment(described(each), absent)}    public {text} {NAMES.get(field, field)}() {{\n        return {made};\n    }}\n")
    return f"""public final class {name} extends {"Content" if "body" in properties else "Answer"} {{
    {name}(Wire wire, com.fasterxml.jackson.databind.JsonNode raw) {{
        super(wire, raw);
    }}
{MORE.get(name, "")}
""" + "\n".join(methods) + "}\n"


def file_of(text, said):
    used = sorted(place for name, place in IMPORTS.items() if re.search(rf"(?<![\w.]){name}\b", text))
    imports = "".join(f"import {each};\n" for each in used)
    return f"{WRITTEN}\n\npackage duewheel;\n\n{imports}{chr(10) if imports else ''}/** {said} */\n{text}"


def files(schemas):
    """(file, text)."""
    for make, classes in ((options, OPTIONS), (answers, ANSWERS)):
        for name, (source, said) in classes.items():
            yield PLACE / f"{name}.java", file_of(make(schemas, name, part_of(schemas, source)), said)


if __name__ == "__main__":
    sys.exit(max([compare_or_write(file, text, "clients/java/generate.py") for file, text in files(schemas_of_server())]))
