"""A server that is not of our making: transformers' own, with the tiny model, must say what the model says in this process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _listener import file, request, tone
from _server import wait_until
from _shelf import Shelf

from dsb2_tasks.models.api import APIModel

for _library in ("fastapi", "uvicorn", "openai", "soxr"):
    pytest.importorskip(_library, reason="transformers serve needs transformers[serving] and soxr")

# As the command `transformers serve`, but with a torchaudio that loads beside any torch.
_SERVE = """
import sys
from dsb2_tasks.audio import ensure_torchaudio
ensure_torchaudio()
from transformers.cli.transformers import main
sys.argv = ["transformers", "serve", "--port", sys.argv[1], "--device", "cpu", "--dtype", "float32"]
sys.exit(main())
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dsb2_tasks.samples.tiny_model import make_tiny_model

    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A running server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(port)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def up() -> bool:
        assert process.poll() is None, "the server ended"
        try:
            return urllib.request.urlopen(f"http://localhost:{port}/health", timeout=2).status == 200
        except OSError:
            return False

    try:
        wait_until(up, 180)
        yield f"http://localhost:{port}/v1"
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_same_answers_as_in_this_process(load: Callable[..., APIModel], shelf: Shelf, tiny: Path, url: str) -> None:
    from dsb2_tasks.models.hf_audio import HFAudio

    clips = [shelf.put(file(tone(200 + 170 * i, 0.4 + 0.5 * i))) for i in range(5)]
    requests = [
        *(request("What is said in the recording?", clip) for clip in clips),
        request("Do the first and the second clip come from the same speaker?", clips[0], clips[3]),
        request("Do the first and the second clip come from the same speaker?", clips[3], clips[0]),
    ]
    here = HFAudio(pretrained=str(tiny), device="cpu", resume=False).generate_until(requests, disable_tqdm=True)
    there = load(url, model=str(tiny), retries=1, concurrency=2)
    assert there.generate_until(requests, disable_tqdm=True) == here
    assert len(set(here)) >= 5, "answers that all agree would show nothing"
    assert there.effort["prompt_tokens"] > 7 * 20
