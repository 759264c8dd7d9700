"""The way from requests to transcripts, with a recogniser that only says what it was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cascade_helpers import Echo, noise, request

from dsb2_tasks.audio import read_failure
from dsb2_tasks.models._args import ModelArgError
from dsb2_tasks.models.cascade import Cascade


def info(lm: Cascade) -> dict[str, Any]:
    """What the results file says, but for times."""
    found = json.loads(json.dumps(lm.get_model_info()))
    del found["dsb2_model"]["time"]
    return found


def test_answers_come_in_the_order_of_the_requests(model: Callable, clip: Callable) -> None:
    requests = [request(clip(noise(seconds))) for seconds in (2, 0.5, 3, 1)]
    assert model(Echo()).generate_until(requests) == ["2.0 seconds", "0.5 seconds", "3.0 seconds", "1.0 seconds"]


def test_longest_clips_go_first_in_batches(model: Callable, clip: Callable) -> None:
    echo = Echo()
    model(echo, batch_size=2).generate_until([request(clip(noise(seconds))) for seconds in (1, 3, 2, 0.5, 4)])
    assert echo.heard == [4, 3, 2, 1, 0.5] and echo.batches == [2, 2, 1]


@pytest.mark.parametrize(("given", "clips"), [("auto", 5), ("auto:4", 5), ("3", 3), (2, 2)])
def test_batch_sizes_in_every_form_of_lm_eval(model: Callable, clip: Callable, given: Any, clips: int) -> None:
    echo = Echo()
    model(echo, batch_size=given).generate_until([request(clip(noise(1, seed))) for seed in range(5)])
    assert max(echo.batches) == clips


def test_several_clips_are_lines_in_clip_order(model: Callable, clip: Callable) -> None:
    long, short = clip(noise(2)), clip(noise(1))
    assert model(Echo()).generate_until([request(short, long), request(long, short), request(short, short)]) == [
        "1.0 seconds\n2.0 seconds",
        "2.0 seconds\n1.0 seconds",
        "1.0 seconds\n1.0 seconds",
    ]


def test_a_clip_is_transcribed_once_whatever_is_asked_about_it(model: Callable, clip: Callable) -> None:
    echo = Echo()
    sound = noise(1)
    here, there, spatial = clip(sound), clip(sound), clip(sound, channels="keep")
    requests = [
        request(here),
        request(there, prompt="Which language?"),
        request(spatial, max_gen_toks=5),
        request(here, clip(noise(2))),
    ]
    answers = model(echo).generate_until(requests)
    assert answers == ["1.0 seconds"] * 3 + ["1.0 seconds\n2.0 seconds"]
    assert sorted(echo.heard) == [1, 2]


def test_a_killed_run_asks_only_for_what_is_missing(model: Callable, clip: Callable) -> None:
    requests = [request(clip(noise(seconds))) for seconds in (1, 2, 3, 4)] + [request(clip(b"no audio")), request()]
    whole = model(Echo(), responses=None, resume=False)
    expected = whole.generate_until(requests)
    with pytest.raises(RuntimeError, match="out of patience"):
        model(Echo(patience=2)).generate_until(requests)
    echo = Echo()
    resumed = model(echo)
    assert resumed.generate_until(requests) == expected
    assert echo.heard == [2, 1]
    assert info(resumed) == info(whole)
    assert resumed.get_model_info()["dsb2_model"]["time"]["transcripts_from_store"] == 2


def test_without_resume_nothing_is_written_or_read(model: Callable, clip: Callable, tmp_path: Path) -> None:
    requests = [request(clip(noise(1)))]
    model(Echo()).generate_until(requests)
    echo = Echo()
    model(echo, resume=False).generate_until(requests)
    assert echo.heard == [1]


def test_two_recognizers_and_two_preparations_share_nothing(model: Callable, clip: Callable) -> None:
    requests = [request(clip(noise(3)))]
    model(Echo("one")).generate_until(requests)
    other, truncating = Echo("two"), Echo("one")
    model(other).generate_until(requests)
    assert other.heard == [3]
    assert model(truncating, max_audio_seconds=2, long_audio="truncate").generate_until(requests) == ["2.0 seconds"]


def test_a_clip_is_told_the_language_that_its_task_states(
    model: Callable, clip: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    sound = noise(1)
    requests = [request(clip(sound, language=code)) for code in ("en", "fr", "xx", "xx")] + [request(clip(sound))]
    unknown = "1.0 seconds"
    assert model(Echo()).generate_until(requests) == ["1.0 seconds of en", "1.0 seconds of fr", unknown, unknown, unknown]
    assert caplog.text.count("does not know the language 'xx'") == 1
    assert model(Echo(), language="fr").generate_until(requests) == ["1.0 seconds of fr"] * 5
    assert model(Echo(), language="detect").generate_until(requests) == [unknown] * 5


def test_transcripts_of_another_language_are_others_and_those_of_the_same_are_shared(model: Callable, clip: Callable) -> None:
    hinted = [request(clip(noise(1), language="en"))]
    model(Echo()).generate_until(hinted)
    echo = Echo()
    assert model(echo, language="en").generate_until(hinted) == ["1.0 seconds of en"] and echo.heard == []
    assert model(echo, language="detect").generate_until(hinted) == ["1.0 seconds"] and echo.heard == [1]


def test_long_audio(model: Callable, clip: Callable) -> None:
    requests = [request(clip(noise(5)))]
    (chunked,) = model(Echo(), max_audio_seconds=2, long_audio="chunk").generate_until(requests)
    assert chunked.count("seconds") >= 3
    (refused,) = model(Echo(), max_audio_seconds=2, long_audio="error").generate_until(requests)
    assert read_failure(refused) is not None and read_failure(refused)[0] == "audio_error"
    assert model(Echo()).generate_until(requests) == ["5.0 seconds"]


@pytest.mark.parametrize("content", [b"", b"no audio at all", b"RIFF\x00\x00\x00\x00WAVE"])
def test_a_broken_clip_is_a_recorded_failure_of_its_requests_alone(model: Callable, clip: Callable, content: bytes) -> None:
    good, broken = clip(noise(1)), clip(content)
    lm = model(Echo())
    answers = lm.generate_until([request(good), request(broken), request(good, broken)])
    assert answers[0] == "1.0 seconds"
    assert [read_failure(answer)[0] for answer in answers[1:]] == ["audio_error"] * 2
    counts = lm.get_model_info()["dsb2_model"]
    assert counts["failures"] == {"audio_error": 2} and counts["answers"] == 1


def test_a_clip_that_is_there_again_is_asked_about_again(model: Callable, clip: Callable, source: Any) -> None:
    requests = [request(clip(noise(1)))]
    lm = model(Echo())
    source.away = True
    (failed,) = lm.generate_until(requests)
    assert read_failure(failed) is not None
    source.away = False
    assert lm.generate_until(requests) == ["1.0 seconds"]


def test_a_request_without_audio_is_answered_with_nothing_and_counted(model: Callable, clip: Callable) -> None:
    lm = model(Echo())
    assert lm.generate_until([request(), request(clip(noise(1)))]) == ["", "1.0 seconds"]
    assert lm.get_model_info()["dsb2_model"]["audio_events"]["no_audio"] == 1


def test_what_was_done_to_the_audio_is_counted(model: Callable, clip: Callable) -> None:
    lm = model(Echo())
    stereo = np.stack([noise(1), noise(1, 1)], axis=1)
    lm.generate_until([request(clip(noise(1), rate=8_000)), request(clip(stereo, channels="keep"))])
    assert lm.get_model_info()["dsb2_model"]["audio_events"] == {"mixed_down": 1, "resampled": 1}


def test_the_host_cache_gets_the_whole_question(model: Callable, clip: Callable) -> None:
    lm = model(Echo())
    noted: list[tuple[str, Any, str]] = []
    lm.cache_hook.add_partial = lambda *entry: noted.append(entry)  # type: ignore[method-assign]
    requests = [request(clip(noise(1))), request(clip(noise(2))), request(clip(b"no audio"))]
    answers = lm.generate_until(requests)
    assert sorted(noted, key=str) == sorted(
        [("generate_until", requests[i].args, answers[i]) for i in (0, 1)], key=str
    )  # never a failure


def test_every_evaluation_counts_its_own(model: Callable, clip: Callable) -> None:
    lm = model(Echo())
    for made, found in ((1, 0), (0, 1)):
        lm.generate_until([request(clip(noise(1)))])
        time = lm.get_model_info()["dsb2_model"]["time"]
        assert (time["transcripts_made"], time["transcripts_from_store"]) == (made, found)


def test_stop_strings_cut_the_answer(model: Callable, clip: Callable) -> None:
    assert model(Echo()).generate_until([request(clip(noise(1)), clip(noise(2)), until=["\n"])]) == ["1.0 seconds"]


@pytest.mark.parametrize("setting", [{"do_sample": True, "temperature": 0.7}, {"num_beams": 4}, {"top_k": 3}])
def test_settings_that_a_transcript_cannot_follow_are_refused(model: Callable, clip: Callable, setting: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(setting))):
        model(Echo()).generate_until([request(clip(noise(1)), **setting)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lenguage": "en"}, "unknown 'lenguage': did you mean 'language'?"),
        ({"pretrained": "x"}, "unknown 'pretrained'"),
        ({"revision": "main"}, "unknown 'revision': did you mean 'asr_revision'?"),
        ({"llm_args": "pretrained=x"}, "unknown 'llm_args'"),
        ({"asr_tasks": "lm"}, "did you mean 'llm'"),
        ({"beam_size": 0}, "beam_size=0"),
        ({"batch_size": "many"}, "batch_size='many'"),
        ({"max_audio_seconds": -1}, "max_audio_seconds=-1"),
        ({"long_audio": "trunkate"}, "did you mean 'truncate'"),
        ({"language": "german"}, "language='german': known are"),
        ({"resume": "yes"}, "resume='yes'"),
        ({"max_audio_seconds": 0.01}, "at least 0.1 s"),
        ({"device": "gpu:0"}, "device='gpu:0' is none that torch knows"),
        ({"audio": "none"}, "audio='none' with llm=none"),
        ({"audio": "noise", "llm": "demo"}, "audio='noise': .* take audio=none"),
        ({"audio": "nun"}, "known are real, none"),
    ],
)
def test_wrong_arguments_are_named(model: Callable, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelArgError, match=message.replace("?", r"\?")):
        model(Echo(), **arguments)


def test_arguments_as_lm_eval_passes_them(model: Callable, clip: Callable, tmp_path: Path) -> None:
    model(Echo())  # puts the recogniser in place
    host = {"batch_size": 1, "max_batch_size": None, "device": "cuda:0"}
    text = f"asr=demo,device=cpu,language=en,beam_size=1,responses={tmp_path / 'other'}"
    lm = Cascade.create_from_arg_string(text, host)
    assert lm.generate_until([request(clip(noise(1)))]) == ["1.0 seconds of en"]
    assert lm.MULTIMODAL and lm.rank == 0 and lm.world_size == 1


def test_likelihoods_are_refused_by_name(model: Callable) -> None:
    with pytest.raises(NotImplementedError, match="dsb2-cascade"):
        model(Echo()).loglikelihood([])
