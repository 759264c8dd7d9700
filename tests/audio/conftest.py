from __future__ import annotations

import pytest
from _audio_files import Shelf


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()
