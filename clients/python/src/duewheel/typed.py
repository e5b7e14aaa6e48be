"""Data as the types that programs declare: dataclasses, models of pydantic, structs of msgspec. Pure functions."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, Optional


def typed(data: Any, kind: Optional[type]) -> Any:
    """The data as a value of `kind`. Raises TypeError or ValueError if it does not fit."""
    if kind is None:
        return data
    if hasattr(kind, "model_validate"):
        return kind.model_validate(data)
    if hasattr(kind, "__struct_fields__"):
        import msgspec
        return msgspec.convert(data, kind)
    if dataclasses.is_dataclass(kind):
        return build(kind, data, kind.__name__)
    return kind(data)


def build(kind: Any, data: Any, where: str) -> Any:
    """A value of a dataclass or of a type of one of its fields, such as `list[Item]` or `str | None`."""
    if dataclasses.is_dataclass(kind):
        return built(kind, data, where)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is dataclasses.MISSING:
        return data
    if origin in (typing.Union, types.UnionType):
        return union(parts, data, where)
    if origin in (list, tuple, set, frozenset) and isinstance(data, list):
        return origin(build(parts[0] if parts else Any, each, f"{where}[{number}]") for number, each in enumerate(data))
    if origin is dict and isinstance(data, dict):
        return {name: build(parts[1], each, f"{where}.{name}") for name, each in data.items()}
    if origin is typing.Literal and data in parts:
        return data
    if kind is float and type(data) is int:
        return float(data)
    if isinstance(kind, type) and type(data) is kind:
        return data
    raise TypeError(f"{where} is {data!r}, and {getattr(kind, '__name__', kind)} is declared")


def built(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise TypeError(f"{where} is {data!r}, and an object is declared")
    hints, fields = typing.get_type_hints(kind), {field.name: field for field in dataclasses.fields(kind) if field.init}
    unknown = sorted(set(data) - set(fields))
    if unknown:
        raise TypeError(f"{where} has no field {', '.join(unknown)}")
    missing = sorted(name for name, field in fields.items()
                     if name not in data and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING)
    if missing:
        raise TypeError(f"{where} lacks {', '.join(missing)}")
    return kind(**{name: build(hints[name], value, f"{where}.{name}") for name, value in data.items()})


def union(parts: tuple[Any, ...], data: Any, where: str) -> Any:
    """The first of the types that the data fits."""
    for part in parts:
        if part is type(None) and data is None:
            return None
        try:
            if part is not type(None):
                return build(part, data, where)
        except TypeError:
            continue
    raise TypeError(f"{where} is {data!r}, which none of the declared types fits")
