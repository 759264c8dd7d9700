"""A shelf of clips, and the backend pointed at a server of the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _server import FakeServer
from _shelf import Shelf

from dsb2_tasks.models.api import APIModel


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., APIModel]:
    """``load(server, **model_args)``: the backend with a store of this test."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def make(server: FakeServer | str, **arguments: Any) -> APIModel:
        url = server if isinstance(server, str) else server.url
        place = {} if arguments.get("resume") is False else {"responses": str(tmp_path / "responses")}
        return APIModel(**{"base_url": url, "model": "served", "retries": 0, **place, **arguments})

    return make
