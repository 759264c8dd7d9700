"""What the tests of the samples share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def voice() -> None:
    """Skips a test of the recipe where espeak-ng is not installed."""
    from dsb2_tasks.samples._speech import SpeechError, espeak_version

    try:
        espeak_version()
    except SpeechError as error:
        pytest.skip(str(error))
