"""Values of Python as the members of JSON that the HTTP API takes, and back. Pure functions."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import json
from typing import Any, Mapping

from .codec import UNDECODABLE
from .errors import InvalidRequest

MILLISECOND = datetime.timedelta(milliseconds=1)


@dataclasses.dataclass(frozen=True)
class Json:
    """Content that is sent as JSON whatever its type: `Json("text")` is a JSON string, and "text" is plain text."""
    value: Any


def duration(value: datetime.timedelta) -> str:
    """Whole milliseconds, rounded up: nothing is early."""
    return f"{-(-value // MILLISECOND)}ms"


def instant(value: datetime.datetime) -> str:
    """RFC 3339. A time without a zone is refused, because the server may be in another one than the caller."""
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone: use datetime.now(timezone.utc) or a time with a zone")
    return value.isoformat(timespec="milliseconds")


def plain(value: Any) -> Any:
    """The value as JSON: dataclasses, models of pydantic and structs of msgspec as objects."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "__struct_fields__"):
        import msgspec
        return msgspec.to_builtins(value)
    return value


def members(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as members, with durations and instants as text. Options that are None are absent."""
    return {name: member(value) for name, value in options.items() if value is not None}


def member(value: Any) -> Any:
    if isinstance(value, datetime.timedelta):
        return duration(value)
    if isinstance(value, datetime.datetime):
        return instant(value)
    if isinstance(value, Mapping):
        return {name: member(each) for name, each in value.items()}
    return value


def content(data: Any) -> dict[str, Any]:
    """Bytes are sent as they are, a string as text, and anything else as JSON."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return {"body_base64": base64.b64encode(data).decode()}
    if isinstance(data, str):
        return {"body": data}
    return {"json": plain(data.value if isinstance(data, Json) else data)}


def data_of(message: Mapping[str, Any]) -> Any:
    """The content of a message as shown or delivered: parsed JSON, text or bytes; None if it is not shown. Raises InvalidRequest if it could
    not be decoded."""
    if UNDECODABLE in message:
        raise InvalidRequest("bad_data", message[UNDECODABLE], "data")
    if "json" in message:
        return message["json"]
    if "body_base64" in message:
        return base64.b64decode(message["body_base64"])
    return message.get("body")


def copied(value: Any) -> Any:
    """The JSON that is sent for a value, which no other thread changes. Raises TypeError or ValueError if there is none."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    return json.loads(text.encode())  # half a surrogate cannot be encoded


def loads(data: bytes) -> Any:
    """JSON with integers of any length."""
    try:
        return json.loads(data)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(data, parse_int=integer)


def integer(digits: str) -> int:
    """Python refuses text of more than 4,300 digits, and such a number of one message would make a whole response unreadable."""
    if len(digits) <= 640:  # what every setting of the limit allows
        return int(digits)
    if digits.startswith("-"):
        return -integer(digits[1:])
    half = len(digits) // 2
    return int(integer(digits[:-half]) * 10 ** half + integer(digits[-half:]))


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
