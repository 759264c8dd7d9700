from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dsb2_tasks.models.hf_audio import HFAudio
from dsb2_tasks.samples.tiny_model import VERSION, cached_tiny_model, make_tiny_model


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_same_small_files_every_time(tiny: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true", "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-m", "dsb2_tasks.samples.tiny_model", str(tmp_path / "new" / "model")]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == str(tmp_path / "new" / "model")
    assert contents(tmp_path / "new" / "model") == contents(tiny)
    assert 0.5e6 < sum(map(len, contents(tiny).values())) < 1.5e6


def test_the_callers_random_numbers_are_left_alone(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    make_tiny_model(tmp_path)
    assert torch.equal(torch.rand(3), expected)


def _make(cache: Path) -> None:
    cached_tiny_model(cache)


def test_many_processes_make_it_in_the_cache_at_once(tmp_path: Path, tiny: Path) -> None:
    processes = [multiprocessing.get_context("fork").Process(target=_make, args=(tmp_path,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert [folder.name for folder in tmp_path.iterdir()] == [f"tiny-model-v{VERSION}"]
    assert contents(cached_tiny_model(tmp_path)) == contents(tiny)


def test_a_half_made_one_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: Path) -> Path:
        (Path(folder) / "config.json").write_text("{")
        raise OSError("disk full")

    monkeypatch.setattr("dsb2_tasks.samples.tiny_model.make_tiny_model", fail)
    with pytest.raises(OSError, match="disk full"):
        cached_tiny_model(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_broken_one_in_the_cache_is_made_again(tmp_path: Path, tiny: Path) -> None:
    broken = tmp_path / f"tiny-model-v{VERSION}"
    broken.mkdir()
    (broken / "tokenizer.json").write_text("{}")
    assert contents(cached_tiny_model(tmp_path)) == contents(tiny)


def test_a_rank_whose_transformers_writes_no_weights_waits_for_the_first(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_weights(folder: Path) -> Path:
        shutil.copy(tiny / "tokenizer.json", folder)
        shutil.copytree(tiny, tmp_path / f"tiny-model-v{VERSION}")  # the first rank is done meanwhile
        return folder

    monkeypatch.setattr("dsb2_tasks.samples.tiny_model.make_tiny_model", without_weights)
    assert contents(cached_tiny_model(tmp_path)) == contents(tiny)


def test_pretrained_tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Path) -> None:
    monkeypatch.setenv("DSB2_CACHE", str(tmp_path))
    lm = HFAudio(pretrained="tiny", device="cpu")
    assert contents(tmp_path / f"tiny-model-v{VERSION}") == contents(tiny)
    assert lm.identity == HFAudio(pretrained=str(tiny), device="cpu").identity
