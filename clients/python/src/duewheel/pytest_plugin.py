"""The fixture `duewheel_server` of pytest: a real server for one test (testing.py)."""

from typing import Iterator

import pytest

from .testing import Server


@pytest.fixture
def duewheel_server() -> Iterator[Server]:
    """A server of its own for this test, whose time the test moves."""
    with Server() as server:
        yield server
