"""What the results file says about the answers of an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _requests import Listening, Shelf, request, tone
from lm_eval.api.model import CachingLM

from dsb2_tasks.models import StoreError
from dsb2_tasks.models._args import ModelArgError
from dsb2_tasks.models.hf_audio import HFAudio

Load = Callable[..., HFAudio]
Patch = pytest.MonkeyPatch


def info(lm: HFAudio) -> dict[str, Any]:
    return lm.get_model_info()["dsb2_model"]


def test_capped_answers_are_counted_by_task(load: Load, shelf: Shelf) -> None:
    clips = [shelf.put(tone(200 + 90 * i, 1)) for i in range(3)]
    lm = load()
    lm.generate_until(
        [
            *(request("What is said?", clip, task="dsb2_one", max_gen_toks=1) for clip in clips),
            request("What is said?", clips[0], task="dsb2_two", max_gen_toks=1),
            request("What is said?", clips[0], task="dsb2_one", max_gen_toks=1),  # as lm-eval pads a short rank
        ]
    )
    assert info(lm)["answers_at_token_cap"] == 3
    assert info(lm)["answers_at_token_cap_by_task"] == {"dsb2_one": 3, "dsb2_two": 1}


def test_counts_start_anew_with_every_evaluation(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    broken, long, short = shelf.put(b"broken"), shelf.put(tone(300, 31)), shelf.put(tone(300, 1))
    lm = load(batch_size=4)
    Listening(lm, monkeypatch, lambda call, rows: RuntimeError("out of memory") if rows == 2 else None)
    lm.generate_until([request("What is said?", clip) for clip in (broken, long, short)])
    first = info(lm)
    assert (first["answers"], first["failures"], first["audio_events"]) == (2, {"audio_error": 1}, {"truncated": 1})
    assert first["time"]["answers_asked"] == 3 and first["time"]["out_of_memory_halvings"] == 1
    lm.generate_until([request("What is said?", short)])
    second = info(lm)
    assert (second["answers"], second["failures"], second["audio_events"]) == (1, {}, {})
    spent = second["time"]
    assert (spent["answers_asked"], spent["answers_from_store"], spent["out_of_memory_halvings"]) == (0, 1, 0)


def test_answers_of_the_hosts_cache_are_in_no_count_and_that_is_told(load: Load, shelf: Shelf, tmp_path: Path) -> None:
    requests = [request("What is said?", shelf.put(tone(200 + 100 * i, 31))) for i in range(2)]
    lm = load(resume=False)
    CachingLM(lm, str(tmp_path / "db")).generate_until(requests[:1])
    assert info(lm)["audio_events"] == {"truncated": 1} and "not_counted" not in info(lm)
    again = load(resume=False)
    CachingLM(again, str(tmp_path / "db")).generate_until(requests)
    assert info(again)["answers"] == 1 and info(again)["not_counted"] == "answers that lm-eval took from --use_cache"
    CachingLM(again, str(tmp_path / "db")).generate_until(requests)
    assert info(again)["answers"] == 0, "the second evaluation asked nothing"


def test_time_is_the_sum_of_all_ranks(load: Load) -> None:
    lm = load()
    lm._efforts = [lm.effort | {"answers_asked": 3, "seconds": 1.5}, lm.effort | {"answers_asked": 4, "seconds": 0.25}]
    assert info(lm)["time"]["answers_asked"] == 7 and info(lm)["time"]["seconds"] == 1.75


# ---------------------------------------------------------------- what cannot go well is told before a model is loaded


def test_a_window_below_the_shortest_clip(load: Load) -> None:
    with pytest.raises(ModelArgError, match=r"max_audio_seconds=0\.05: at least 0\.1 s"):
        load(pretrained="nothing/there", max_audio_seconds=0.05)


def test_a_store_that_cannot_be_written(load: Load, tmp_path: Path, monkeypatch: Patch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StoreError, match=r"answers cannot be kept in .*below: .*file is a file; name a folder in responses="):
        load(pretrained="nothing/there", responses=str(file / "below"))
    monkeypatch.setattr("os.access", lambda path, mode: False)  # the tests may run as root, who may write anywhere
    with pytest.raises(StoreError, match=r"may not be written to; .* resume=false"):
        load(pretrained="nothing/there", responses=str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()
