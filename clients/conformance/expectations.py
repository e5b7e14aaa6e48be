"""What a scenario says about values: variables that are filled in, and expectations that are compared with what came.

README.md, "Values", has the language. Everything here is a pure function.
"""

import re

VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(duration):
    """`"1m30s"` is 90.0."""
    parts = DURATION.findall(duration)
    assert parts and "".join(number + unit for number, unit in parts) == duration, f"{duration!r} is no duration"
    return sum(float(number) * SECONDS[unit] for number, unit in parts)


def fill(value, variables):
    """The value with its variables, and with `{"$plus": [number, number]}`, `{"$repeat": [text, times]}` and
    `{"$each": [count, value]}` calculated; in the last, `$n` is the number of the item as text. A variable that is not set is an error of the scenario."""
    if isinstance(value, str):
        if re.fullmatch(r"\$\w+", value):
            return variables[value[1:]]
        return VARIABLE.sub(lambda match: str(variables[match[1] or match[2]]), value)
    if isinstance(value, list):
        return [fill(each, variables) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$each"}:
        count, each = value["$each"]
        return [fill(each, {**variables, "n": f"{number}"}) for number in range(1, count + 1)]
    filled = {name: fill(each, variables) for name, each in value.items()}
    if set(filled) == {"$plus"}:
        return sum(filled["$plus"])
    if set(filled) == {"$repeat"}:
        text, times = filled["$repeat"]
        return text * times
    return filled


def is_matcher(expected):
    return isinstance(expected, dict) and len(expected) == 1 and next(iter(expected)).startswith("$")


def mismatches(expected, actual, path="result"):
    """A line for each difference; none if `actual` is what was expected. An object may have more members than expected."""
    if is_matcher(expected):
        (name, wanted), = expected.items()
        return [] if matches(name, wanted, actual, path) else [f"{path}: expected {name} {shown(wanted)}, and it is {shown(actual)}"]
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for name, wanted in expected.items():
            if wanted == {"$absent": True}:
                found += [f"{path}.{name}: expected none, and it is {shown(actual[name])}"] if name in actual else []
            elif name not in actual:
                found.append(f"{path}.{name}: expected {shown(wanted)}, and there is none")
            else:
                found += mismatches(wanted, actual[name], f"{path}.{name}")
        return found
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{path}: expected {len(expected)} items, and it has {len(actual)}: {shown(actual)}"]
        return [line for number, (wanted, each) in enumerate(zip(expected, actual))
                for line in mismatches(wanted, each, f"{path}[{number}]")]
    if type(expected) is type(actual) and expected == actual:
        return []
    return [f"{path}: expected {shown(expected)}, and it is {shown(actual)}"]


def matches(name, wanted, actual, path):
    if name == "$any":
        return True
    if name == "$one_of":
        return any(not mismatches(each, actual, path) for each in wanted)
    if name == "$not":
        return bool(mismatches(wanted, actual, path))
    if name == "$size":
        return isinstance(actual, (list, dict, str)) and len(actual) == wanted
    if name == "$matches":
        return isinstance(actual, str) and re.search(wanted, actual) is not None
    if name == "$has":
        return isinstance(actual, list) and all(any(not mismatches(each, item, path) for item in actual) for each in wanted)
    number = isinstance(actual, (int, float)) and not isinstance(actual, bool)
    if name == "$at_least":
        return number and actual >= wanted
    if name == "$at_most":
        return number and actual <= wanted
    if name == "$near":
        return number and abs(actual - wanted[0]) <= wanted[1]
    raise ValueError(f"{name} is no matcher")


def shown(value):
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-80:]}"


def at(value, path):
    """The value at a path such as `messages[0].id`."""
    for part in re.findall(r"\w+|\[\d+\]", path):
        value = value[int(part[1:-1])] if part.startswith("[") else value[part]
    return value
