"""What a call may raise: one class for each family of failures, with the server's code, the member at fault and what to do."""

from __future__ import annotations

from typing import Any, Optional


class DuewheelError(Exception):
    """A call that had no success. `code` is stable and for programs; `detail` is for people and says what to do."""

    def __init__(self, code: str, detail: str, field: Optional[str] = None, outcome: Optional[str] = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail, self.field, self.outcome = code, detail, field, outcome


class InvalidRequest(DuewheelError):
    """The request is wrong and stays wrong: correct the member that `field` names."""


class Unauthorized(DuewheelError):
    """The token is missing, invalid, or does not allow the call."""


class NotFound(DuewheelError):
    """There is no such message, queue, schedule or watchdog, or it ended longer ago than outcomes are kept."""


class Conflict(DuewheelError):
    """The call came too late or contradicts another one. `outcome` says what became of the message."""


class Throttled(DuewheelError):
    """A limit or a full queue, until the deadline of the call."""


class Unavailable(DuewheelError):
    """The server could not answer until the deadline of the call. Whether it carried the call out is not known if the code is
    `deadline`; the same put with the same key can be repeated."""


FAMILIES: dict[int, type[DuewheelError]] = {
    400: InvalidRequest, 401: Unauthorized, 403: Unauthorized, 404: NotFound, 409: Conflict, 410: NotFound, 413: InvalidRequest,
    414: InvalidRequest, 415: InvalidRequest, 429: Throttled}


def error_of(problem: dict[str, Any]) -> DuewheelError:
    """The exception for a problem document of the server."""
    family = FAMILIES.get(problem["status"], Unavailable)
    return family(problem["code"], problem["detail"], problem.get("field"), problem.get("outcome"))
