"""A codec changes the bytes of payloads on their way out and in: encryption, or compression. Pure functions on members of JSON.

An encoded message has the header `codec`, the name of the codec and what is inside: "aes-2027/json", "aes-2027/text" or
"aes-2027/bytes". This is the same in the clients of all languages.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Mapping, MutableMapping, Optional, Protocol

HEADER = "codec"
UNDECODABLE = "undecodable"  # the member of a message that says why its content could not be decoded
KINDS = {"json": "json", "body": "text", "body_base64": "bytes"}  # members, and what they are called in the header


class Codec(Protocol):
    """Thread-safe. What decode() raises becomes the failure of the attempt that reads the message. If encode() does not return the same
    bytes for the same data, then the same put with the same key of the caller is a `key_conflict`."""

    @property
    def name(self) -> str:
        """Stays with the messages: change it when old messages cannot be decoded any more."""

    def encode(self, data: bytes) -> bytes:
        ...

    def decode(self, data: bytes) -> bytes:
        ...


def sealed(value: Mapping[str, Any], codec: Codec) -> Mapping[str, Any]:
    """The members of a request, with the content encoded if they have one."""
    member = next((name for name in KINDS if name in value), None)
    if member is None:
        return value
    content = value[member]
    data = (json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode() if member == "json"
            else base64.b64decode(content) if member == "body_base64" else content.encode())
    others = {name: each for name, each in value.items() if name != member}
    return {**others, "body_base64": base64.b64encode(codec.encode(data)).decode(),
            "headers": {**(value.get("headers") or {}), HEADER: f"{codec.name}/{KINDS[member]}"}}


def open_all(answer: Any, codec: Optional[Codec]) -> None:
    """Decodes the content of a message that the server shows, or of all those that it delivers, in place."""
    if isinstance(answer, dict):
        for each in answer.get("messages", ()):
            open_one(each, codec)
        open_one(answer, codec)


def open_one(message: MutableMapping[str, Any], codec: Optional[Codec]) -> None:
    """A content that cannot be decoded is replaced by the reason: the other messages of the answer are none the worse for it."""
    header = (message.get("headers") or {}).get(HEADER)
    if header is None or not KINDS.keys() & message.keys():
        return
    name, _, kind = header.rpartition("/")
    try:
        if not codec or codec.name != name:
            raise ValueError(f"it was encoded by the codec `{name}`, and this client has {f'`{codec.name}`' if codec else 'none'}")
        data = codec.decode(base64.b64decode(message["body_base64"]) if "body_base64" in message else message["body"].encode())
        made = content_of(kind, data)
    except Exception as error:
        made = {UNDECODABLE: f"the content of message {message.get('id')} cannot be decoded: {error!r}"}
    for member in KINDS:
        message.pop(member, None)
    message.update(made)


def content_of(kind: str, data: bytes) -> dict[str, Any]:
    """The member of a message that was put as this kind. Raises ValueError for another kind, and for data that is none of it."""
    if kind == "json":
        return {"json": json.loads(data)}
    if kind == "text":
        return {"body": data.decode()}
    if kind == "bytes":
        return {"body_base64": base64.b64encode(data).decode()}
    raise ValueError(f"`{kind}` is no kind of content")
