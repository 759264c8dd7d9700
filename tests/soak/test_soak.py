"""20,000 requests, one document in twenty failing: nothing is lost, everything is counted, and memory stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LIMIT_SECONDS = 1800


def soak(repository: Path, cache: Path, model: str, requests: int) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", model, "--requests", str(requests)],
        cwd=repository,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "DSB2_CACHE": str(cache)},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS + 600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


#: Share of documents that can never be answered, and how such a failure is called.
LOST = {"hf-audio": (20, "audio_error"), "dsb2-api": (200, "model_error")}


def check_answers(model: str, requests: int, found: Any) -> None:
    """What was answered, counted and asked again is what it must be, however long the run."""
    every, failure = LOST[model]
    lost = requests // every
    assert found["counts"]["answers"] == requests - lost
    assert found["counts"]["failures"] == {failure: lost}
    assert found["results"]["audio_error_rate,none"] == pytest.approx(lost / requests)
    assert found["results"]["accuracy,none"] == 1.0, "a failure of the tool was scored as an answer"
    assert found["statuses"] == {"(0.0, 'ok')": requests - lost, "None": lost}
    # The second time: what was answered is not asked again, what failed is, and comes out the same.
    assert found["effort"]["answers_asked"] == requests
    assert found["effort_again"]["answers_from_store"] == requests - lost
    assert found["effort_again"]["answers_asked"] == lost
    assert found["same_again"]
    if model == "dsb2-api":
        assert found["effort"]["retries"] == requests // 20 - lost, "each of the failing replies was tried once more"
        assert found["most_tries"] == 2


@pytest.mark.slow
def test_a_short_one(repository: Path, tmp_path: Path) -> None:
    check_answers("dsb2-api", 400, soak(repository, tmp_path, "dsb2-api", 400))


@pytest.mark.long
@pytest.mark.parametrize("model", LOST)
def test_soak(model: str, repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    requests = 20_000
    found = soak(repository, tmp_path, model, requests)
    _, second, _, fourth = found["quarters"]
    with capsys.disabled():
        print(f"\n{model}: {requests} requests in {found['seconds']} s, anonymous memory by quarters {found['quarters']} MB")
    check_answers(model, requests, found)
    assert abs(fourth - second) <= 0.05 * second
    assert found["seconds"] <= LIMIT_SECONDS
