"""The backend with the tiny model: a real Qwen2-Audio, with random weights."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch
from _requests import RATE, Listening, Shelf, by_one, mixed, request, tone, wav
from lm_eval.api.model import CachingLM

from dsb2_tasks.audio import read_failure
from dsb2_tasks.models._canary import AudioNotHeard, check_hearing
from dsb2_tasks.models._load import ModelUnavailable
from dsb2_tasks.models.adapters import Adapter, find_adapter
from dsb2_tasks.models.hf_audio import HFAudio

Load = Callable[..., HFAudio]
Patch = pytest.MonkeyPatch


def stored(lm: HFAudio) -> list[dict[str, Any]]:
    lines = [line for file in sorted(lm._store.folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [record for record in map(json.loads, lines) if "key" in record]


def settled(lm: HFAudio) -> dict[str, Any]:
    """What the results file says, without what may differ from run to run."""
    info = copy.deepcopy(lm.get_model_info())
    del info["dsb2_model"]["time"]
    return info


# ---------------------------------------------------------------- hearing


def test_answers_depend_on_the_audio_and_its_order(load: Load, shelf: Shelf) -> None:
    a, b = shelf.put(tone(300, 1)), shelf.put(tone(900, 1))
    answers = load().generate_until([request("Say it.", *audio) for audio in ([a], [b], [a, b], [b, a], [])])
    assert len(set(answers)) == 5


@pytest.mark.parametrize("position", ["before", "after"])
def test_place_of_the_audio(load: Load, shelf: Shelf, position: str, monkeypatch: Patch) -> None:
    lm = load(audio_position=position)
    ear = Listening(lm, monkeypatch)
    lm.generate_until([request("Here is the text.", shelf.put(tone(300, 1)))])
    prompt = lm._adapter.tokenizer.decode(ear.keywords[0]["input_ids"][0])
    assert (prompt.index("<|AUDIO|>") < prompt.index("Here is")) == (position == "before")
    assert prompt.count("<|AUDIO|>") == 25  # 1 s at 25 a second


def test_greedy_answers_do_not_depend_on_the_batch(load: Load, shelf: Shelf) -> None:
    requests = mixed(shelf)
    alone = load(resume=False, batch_size=1).generate_until(requests)
    eight = load(resume=False, batch_size=8).generate_until(requests)
    five = load(resume=False, batch_size=5, max_audio_seconds_per_batch=40, prefetch=0).generate_until(requests[::-1])[::-1]
    assert alone == eight == five
    assert len(set(alone)) == len(alone)
    assert alone == by_one(load(resume=False), requests)


def test_batches_hold_only_equal_settings_and_keep_their_bounds(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    clips = [shelf.put(tone(300 + i, 2)) for i in range(7)]
    requests = [request("Say it.", clip, max_gen_toks=3 + i % 2) for i, clip in enumerate(clips)]
    lm = load(batch_size=8, max_audio_seconds_per_batch=6.5)
    ear = Listening(lm, monkeypatch)
    lm.generate_until(requests)
    assert sorted(ear.rows) == [1, 3, 3]
    assert {keywords["max_new_tokens"] for keywords in ear.keywords} == {3, 4}


@pytest.mark.parametrize(("size", "bound", "used"), [("4", None, 4), ("auto", None, 4), ("auto:2", 3, 3), (8, 2, 2)])
def test_batch_sizes_as_lm_eval_gives_them(load: Load, size: Any, bound: int | None, used: int) -> None:
    assert load(batch_size=size, max_batch_size=bound)._sizes.size == used


# ---------------------------------------------------------------- the store


def test_two_clips_with_one_instruction_never_share_an_answer(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    requests = [request("What is said?", shelf.put(tone(200 + 100 * i, 1))) for i in range(4)]
    first = load().generate_until(requests)
    lm = load()
    ear = Listening(lm, monkeypatch)
    assert lm.generate_until(requests[::-1]) == first[::-1]
    assert ear.asked == 0 and len(set(first)) == 4


def test_what_changes_the_answer_is_asked_again(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    clip = shelf.put(tone(300, 3))
    load().generate_until([request("What is said?", clip)])
    for arguments, changed in [
        ({}, request("What is said ?", clip)),
        ({}, request("What is said?", clip, max_gen_toks=5)),
        ({}, request("What is said?", clip, until=["a"])),
        ({"max_new_tokens": 4}, request("What is said?", clip)),
        ({"audio_position": "after"}, request("What is said?", clip)),
        ({"system_instruction": "Be brief."}, request("What is said?", clip)),
        ({"max_audio_seconds": 2}, request("What is said?", clip)),
        ({"long_audio": "chunk"}, request("What is said?", clip)),
        ({"dtype": "bfloat16"}, request("What is said?", clip)),
    ]:
        lm = load(**arguments)
        ear = Listening(lm, monkeypatch)
        lm.generate_until([changed])
        assert ear.asked == 1, (arguments, changed.args)


def test_a_retrained_model_in_the_same_folder_shares_nothing(
    load: Load, shelf: Shelf, tiny: Any, tmp_path: Any, monkeypatch: Patch
) -> None:
    from transformers import Qwen2AudioForConditionalGeneration

    requests = [request("What is said?", shelf.put(tone(300, 1)))]
    before = load().generate_until(requests)
    other = tmp_path / "model"
    other.mkdir()
    for file in tiny.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    lm = load(pretrained=str(other))
    assert lm.identity == load().identity, "the same model at another place"
    ear = Listening(lm, monkeypatch)
    assert lm.generate_until(requests) == before and ear.asked == 0
    model = Qwen2AudioForConditionalGeneration.from_pretrained(other)
    with torch.no_grad():
        model.get_output_embeddings().weight[:] = model.get_output_embeddings().weight.flip(0)
    model.save_pretrained(other)
    lm = load(pretrained=str(other))
    ear = Listening(lm, monkeypatch)
    assert lm.generate_until(requests) != before and ear.asked == 1


def test_equal_requests_are_asked_once(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    clip = shelf.put(tone(300, 1))
    lm = load(batch_size=4)
    ear = Listening(lm, monkeypatch)
    answers = lm.generate_until([request("What is said?", clip)] * 3 + [request("And now?", clip)])
    assert ear.asked == 2 and len(set(answers[:3])) == 1 and answers[3] != answers[0]


@pytest.mark.parametrize("settings", [{"do_sample": True, "temperature": None}, {"do_sample": None, "temperature": 5.0}])
def test_drawn_answers_are_never_stored(load: Load, shelf: Shelf, monkeypatch: Patch, settings: dict[str, Any]) -> None:
    one = request("What is said?", shelf.put(tone(300, 1)), **settings)
    lm = load(batch_size=8)
    ear = Listening(lm, monkeypatch)
    drawn = lm.generate_until([one]) + lm.generate_until([one] * 5)
    assert ear.asked == 6 and len(set(drawn)) > 1
    assert all(keywords["do_sample"] for keywords in ear.keywords)
    assert not lm._store.folder.exists()
    assert lm.get_model_info()["dsb2_model"]["answers"] == 5, "of the last call"


def test_killed_and_started_again(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    requests = mixed(shelf)
    whole = load(resume=False, batch_size=2)
    expected = whole.generate_until(requests)
    lm = load(batch_size=2)
    Listening(lm, monkeypatch, lambda call, rows: ValueError("the card fell off the bus") if call == 2 else None)
    with pytest.raises(
        RuntimeError, match=r"batch of 2 \(.* s of audio\): ValueError: the card fell off the bus; the answers so far"
    ):
        lm.generate_until(requests)
    assert len(stored(lm)) == 4
    again = load(batch_size=2)
    ear = Listening(again, monkeypatch)
    assert again.generate_until(requests) == expected
    assert ear.asked == len(requests) - 4
    assert len({record["key"] for record in stored(again)}) == len(stored(again)) == len(requests)
    assert settled(again) == settled(whole)
    assert settled(again)["dsb2_model"]["audio_events"]["truncated"] == 1


def test_the_log_says_how_many_answers_were_found(load: Load, shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    requests = [request("What is said?", shelf.put(tone(200 + 100 * i, 1))) for i in range(3)]
    load().generate_until(requests[:2])
    with caplog.at_level(logging.INFO, logger="dsb2_tasks"):
        load().generate_until(requests)
    assert "2 of 3 answers found" in caplog.text


def test_no_store_without_resume(load: Load, shelf: Shelf, tmp_path: Any, monkeypatch: Patch) -> None:
    monkeypatch.setenv("DSB2_CACHE", str(tmp_path / "cache"))
    lm = load(resume=False)
    lm.generate_until([request("What is said?", shelf.put(tone(300, 1)))])
    assert not (tmp_path / "cache").exists() and not (tmp_path / "responses").exists()
    with pytest.raises(ValueError, match="resume=false"):
        load(resume=False, responses=str(tmp_path))


# ---------------------------------------------------------------- lm-eval's own cache


def test_use_cache_goes_on_after_a_crash_and_mixes_no_clips(load: Load, shelf: Shelf, tmp_path: Any, monkeypatch: Patch) -> None:
    requests = [request("What is said?", shelf.put(tone(200 + 100 * i, 1))) for i in range(6)]
    expected = load(resume=False).generate_until(requests)
    lm = load(resume=False, batch_size=2)
    Listening(lm, monkeypatch, lambda call, rows: ValueError("gone") if call == 2 else None)
    before = copy.deepcopy([one.args for one in requests])
    with pytest.raises(RuntimeError, match="gone"):
        CachingLM(lm, str(tmp_path / "db")).generate_until(requests)
    lm = load(resume=False, batch_size=2)
    ear = Listening(lm, monkeypatch)
    assert CachingLM(lm, str(tmp_path / "db")).generate_until(requests) == expected
    assert ear.asked == 2
    assert [one.args for one in requests] == before, "a changed request would not be found again"


def test_use_cache_of_another_model_is_refused(load: Load, shelf: Shelf, tmp_path: Any) -> None:
    path = str(tmp_path / "db")
    CachingLM(load(), path).generate_until([request("What is said?", shelf.put(tone(300, 1)))])
    CachingLM(load(), path)
    for other in ({"dtype": "bfloat16"}, {"max_audio_seconds": 3}):
        with pytest.raises(ValueError, match="another model"):
            CachingLM(load(**other), path)


def test_use_cache_does_not_keep_failures(load: Load, shelf: Shelf, tmp_path: Any, monkeypatch: Patch) -> None:
    handle = shelf.put(tone(300, 1))
    data, shelf.files[0] = shelf.files[0], b"half a file"
    (failed,) = CachingLM(load(), str(tmp_path / "db")).generate_until([request("What is said?", handle)])
    assert read_failure(failed)
    shelf.files[0] = data  # the disk is back
    (answer,) = CachingLM(load(), str(tmp_path / "db")).generate_until([request("What is said?", handle)])
    assert not read_failure(answer)


# ---------------------------------------------------------------- trouble


@pytest.mark.parametrize("data", [b"", b"this is text", wav(tone(300, 1))[:30]])
def test_a_broken_clip_fails_alone(load: Load, shelf: Shelf, data: bytes, monkeypatch: Patch) -> None:
    good = [request("What is said?", shelf.put(tone(200 + 100 * i, 1))) for i in range(3)]
    bad, handle = request("What is said?", broken := shelf.put(data)), broken
    two = request("Same speaker?", good[0].args[2]["audio"][0], handle)
    lm = load(batch_size=8)
    answers = lm.generate_until([good[0], bad, good[1], two, good[2]])
    for answer in (answers[1], answers[3]):
        kind, reason = read_failure(answer)
        assert kind == "audio_error" and reason
    assert [answers[i] for i in (0, 2, 4)] == load(resume=False).generate_until(good)
    info = lm.get_model_info()["dsb2_model"]
    assert info["failures"] == {"audio_error": 2} and info["answers"] == 3
    assert len(stored(lm)) == 3, "a failure is no answer"
    # The file is repaired: the same request is asked now.
    again = load()
    ear = Listening(again, monkeypatch)
    shelf.files[handle["row"]] = wav(tone(500, 1))
    shelf_handle = {**handle, "sha256": shelf.put(tone(500, 1))["sha256"]}
    assert read_failure(again.generate_until([request("What is said?", shelf_handle)])[0]) is None
    assert ear.asked == 1


def test_a_clip_that_changed_behind_our_back_is_not_asked_about(load: Load, shelf: Shelf) -> None:
    handle = shelf.put(tone(300, 1))
    shelf.files[handle["row"]] = wav(tone(400, 1))
    kind, _ = read_failure(load().generate_until([request("What is said?", handle)])[0])
    assert kind == "audio_error"


def test_an_answer_cannot_pose_as_a_failure(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    from dsb2_tasks.audio import failure

    lm = load()
    monkeypatch.setattr(lm._adapter, "text", lambda tokens: failure("audio_error", "made up"))
    (answer,) = lm.generate_until([request("What is said?", shelf.put(tone(300, 1)))])
    assert read_failure(answer) is None


# ---------------------------------------------------------------- the check at the start


def deaf(lm: HFAudio, monkeypatch: Patch, change: Callable[[dict[str, Any]], None]) -> None:
    real = lm._adapter.inputs

    def inputs(conversations: Any, **options: Any) -> Any:
        made = real(conversations, **options)
        change(made)
        return made

    monkeypatch.setattr(lm._adapter, "inputs", inputs)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda made: made.update(input_features=torch.zeros_like(made["input_features"])), "the same inputs"),
        (lambda made: [made.pop(name) for name in ("input_features", "feature_attention_mask")], "the same inputs"),
        (lambda made: made.update(input_ids=made["input_ids"] * 0 + 7), "no place for audio"),
        (lambda made: made.update(audio_embedding=made.pop("input_features")), "forward does not take audio_embedding"),
    ],
)
def test_a_processor_that_drops_audio_ends_the_run(
    load: Load, shelf: Shelf, monkeypatch: Patch, change: Callable[[Any], None], reason: str
) -> None:
    lm = load()
    deaf(lm, monkeypatch, change)
    ear = Listening(lm, monkeypatch)
    with pytest.raises(AudioNotHeard, match=reason) as raised:
        lm.generate_until([request("What is said?", shelf.put(tone(300, 1)))])
    assert "audio" in str(raised.value) and "Qwen2AudioProcessor(self, images, text, videos, audio" in str(raised.value)
    assert ear.asked == 0 and not lm._store.folder.exists()


def test_a_wrapper_that_hands_everything_on_is_not_suspected(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    lm = load()
    forward = lm._model.forward
    with monkeypatch.context() as patched:
        patched.setattr(lm._model, "forward", lambda *args, **kwargs: forward(*args, **kwargs))
        check_hearing(lm._adapter, lm._model)


# ---------------------------------------------------------------- adapters


def test_a_family_that_nobody_tried_gets_the_generic_adapter_and_a_warning(load: Load, caplog: pytest.LogCaptureFixture) -> None:
    load()
    assert not caplog.records
    assert find_adapter("some_new_audio_model") is Adapter
    assert "'some_new_audio_model' has not been tried" in caplog.text and "qwen2_audio" in caplog.text


def test_more_clips_than_a_family_takes_is_a_recorded_failure(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    a, b = shelf.put(tone(300, 1)), shelf.put(tone(400, 1))
    lm = load()
    monkeypatch.setattr(Adapter, "max_clips", 1)
    two, one = lm.generate_until([request("Same speaker?", a, b), request("What is said?", a)])
    assert read_failure(two) == ("model_error", "2 clips; the model takes 1 a turn") and read_failure(one) is None


# ---------------------------------------------------------------- generation


def test_the_token_cap_is_kept_and_counted(load: Load, shelf: Shelf) -> None:
    requests = [request("What is said?", shelf.put(tone(200 + 90 * i, 1)), max_gen_toks=40) for i in range(12)]
    lm = load(batch_size=5)
    long = lm.generate_until(requests)
    count = lm.get_model_info()["dsb2_model"]["answers_at_token_cap"]
    tokens = [len(lm._adapter.tokenizer(answer)["input_ids"]) for answer in long]
    assert 0 < count < 12, "some answers end by themselves, some do not"
    short = load(max_new_tokens=1)
    assert all(answer.startswith(start) for answer, start in zip(long, short.generate_until(requests), strict=True))
    capped_at_one = short.get_model_info()["dsb2_model"]["answers_at_token_cap"]
    assert capped_at_one == sum(answer != "" for answer in long) >= 10
    alone = load(resume=False, batch_size=1)
    alone.generate_until(requests)
    assert alone.get_model_info()["dsb2_model"]["answers_at_token_cap"] == count
    assert max(tokens) > 12


def test_stop_strings_end_an_answer(load: Load, shelf: Shelf) -> None:
    clips = [shelf.put(tone(200 + 90 * i, 1)) for i in range(6)]
    whole = load(resume=False).generate_until([request("What is said?", clip, max_gen_toks=20) for clip in clips])
    stop = next(text for text in whole if len(text) > 6)[3:5]
    lm = load(batch_size=6)
    cut = lm.generate_until([request("What is said?", clip, max_gen_toks=20, until=[stop, "never"]) for clip in clips])
    assert cut == [text.split(stop)[0] for text in whole]
    assert cut != whole


def test_generation_settings_reach_the_model(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    clip = shelf.put(tone(300, 1))
    lm = load()
    ear = Listening(lm, monkeypatch)
    lm.generate_until(
        [
            request("What is said?", clip, do_sample=True, temperature=0.7, top_p=0.8, max_gen_toks=5),
            request("What is said?", clip, num_beams=2, repetition_penalty=1.2),
        ]
    )
    drawn, beams = sorted(ear.keywords, key=lambda keywords: "num_beams" in keywords)
    assert {k: drawn[k] for k in ("do_sample", "temperature", "top_p", "max_new_tokens")} == {
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.8,
        "max_new_tokens": 5,
    }
    assert beams["num_beams"] == 2 and beams["repetition_penalty"] == 1.2 and beams["do_sample"] is False
    with pytest.raises(ValueError, match="did you mean 'num_beams'"):
        lm.generate_until([request("What is said?", clip, num_beam=2)])


def test_long_audio(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    samples = tone(300, 6.5)
    samples[round(3.5 * RATE) : round(3.52 * RATE)] = 0  # the pause is where windows are cut, in its middle
    at = round(3.51 * RATE)
    whole, cut, first, last = (shelf.put(clip) for clip in (samples, samples[: 4 * RATE], samples[:at], samples[at:]))
    start, *parts = load(max_audio_seconds=4).generate_until([request("What is said?", clip) for clip in (cut, first, last)])

    lm = load(max_audio_seconds=4, long_audio="truncate")
    assert lm.generate_until([request("What is said?", whole)]) == [start]
    assert lm.get_model_info()["dsb2_model"]["audio_events"] == {"truncated": 1}

    lm = load(max_audio_seconds=4, long_audio="chunk", batch_size=4)
    ear = Listening(lm, monkeypatch)
    joined = " ".join(part.strip() for part in parts)
    assert lm.generate_until([request("What is said?", whole), request("What is said?", first)]) == [joined, parts[0]]
    assert ear.asked == 3
    info = lm.get_model_info()["dsb2_model"]
    assert info["answers_from_windows"] == 1 and info["audio_events"] == {"chunked": 1}

    kind, reason = read_failure(load(max_audio_seconds=4, long_audio="error").generate_until([request("Say.", whole)])[0])
    assert kind == "audio_error" and "4" in reason


def test_the_window_is_the_feature_extractors(load: Load) -> None:
    info = load().get_model_info()["dsb2_model"]["preprocessing"]
    assert info["max_seconds"] == 30.0 and info["rate"] == RATE and info["channels"] == "mono"


# ---------------------------------------------------------------- chat


def test_chat_messages_become_turns_with_the_audio_in_the_last_user_turn(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    lm = load()
    ear = Listening(lm, monkeypatch)
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "What is said?"},
    ]
    string = lm.apply_chat_template(history)
    assert isinstance(string, str) and json.loads(string)
    lm.generate_until([request(string, shelf.put(tone(300, 1)))])
    prompt = lm._adapter.tokenizer.decode(ear.keywords[0]["input_ids"][0])
    audio = "<|audio_bos|>" + "<|AUDIO|>" * 25 + "<|audio_eos|>"
    assert prompt == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello?<|im_end|>\n<|im_start|>assistant\nYes.<|im_end|>\n"
        f"<|im_start|>user\nAudio 1: {audio}\nWhat is said?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_plain_prompt_is_the_chat_of_one_turn(load: Load, shelf: Shelf) -> None:
    lm, clip = load(), shelf.put(tone(300, 1))
    string = lm.apply_chat_template([{"role": "user", "content": "What is said?"}])
    plain, chat = lm.generate_until([request("What is said?", clip), request(string, clip)])
    assert plain == chat


def test_an_answer_that_is_begun_is_gone_on_with(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    lm = load()
    ear = Listening(lm, monkeypatch)
    begun = [{"role": "user", "content": "What is said?"}, {"role": "assistant", "content": "They say"}]
    lm.generate_until([request(lm.apply_chat_template(begun, add_generation_prompt=False), shelf.put(tone(300, 1)))])
    assert lm._adapter.tokenizer.decode(ear.keywords[0]["input_ids"][0]).endswith("<|im_start|>assistant\nThey say")


@pytest.mark.parametrize("rest", ['"turns": 5}', '"turns": []}', '"turns": [["user", 5]]}', '"turns": [["user"]]}', ""])
def test_prompts_that_look_like_chats_are_prompts(load: Load, shelf: Shelf, monkeypatch: Patch, rest: str) -> None:
    prompt = '{"dsb2_chat": 1, ' + rest
    lm = load()
    ear = Listening(lm, monkeypatch)
    lm.generate_until([request(prompt, shelf.put(tone(300, 1)))])
    assert prompt + "<|im_end|>" in lm._adapter.tokenizer.decode(ear.keywords[0]["input_ids"][0])


def test_system_instruction(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    lm = load(system_instruction="Be brief.")
    ear = Listening(lm, monkeypatch)
    lm.generate_until([request("What is said?", shelf.put(tone(300, 1)))])
    assert lm._adapter.tokenizer.decode(ear.keywords[0]["input_ids"][0]).startswith("<|im_start|>system\nBe brief.<|im_end|>")
    two = lm.apply_chat_template([{"role": "system", "content": "Be long."}, {"role": "user", "content": "x"}])
    with pytest.raises(ValueError, match="two system instructions"):
        lm.generate_until([request(two, shelf.put(tone(300, 1)))])


def test_names_for_lm_eval(load: Load) -> None:
    lm = load()
    assert "audio_bos" in lm.chat_template(True) and "/" not in lm.tokenizer_name
    with pytest.raises(ValueError, match="own one"):
        lm.chat_template("default")


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pretrain": "x"}, "did you mean 'pretrained'"),
        ({"batchsize": 1}, "did you mean 'batch_size'"),
        ({"long_audio": "cut"}, "long_audio='cut'"),
        ({"long_audio": "chunks"}, "did you mean 'chunk'"),
        ({"audio_position": "middle"}, "audio_position='middle'"),
        ({"dtype": "float33"}, "did you mean 'float32'"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": "lots"}, "batch_size='lots'"),
        ({"max_batch_size": -1}, "max_batch_size=-1"),
        ({"max_new_tokens": 0}, "max_new_tokens=0"),
        ({"max_audio_seconds": 0}, "max_audio_seconds=0"),
        ({"max_audio_seconds_per_batch": "x"}, "max_audio_seconds_per_batch='x'"),
        ({"prefetch": -1}, "prefetch=-1"),
        ({"resume": "maybe"}, "resume='maybe'"),
        ({"trust_remote_code": "maybe"}, "trust_remote_code='maybe'"),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_loaded(load: Load, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(**{"pretrained": "nothing/there", **arguments})


def test_arguments_as_lm_eval_gives_them(tiny: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    host = {"batch_size": 1, "max_batch_size": None, "device": "cuda:0"}
    text = f"pretrained={tiny},responses={tmp_path},batch_size=3,max_new_tokens=7,long_audio=chunk,prefetch=0,dtype=float32"
    caplog.set_level(logging.INFO, logger="dsb2_tasks")
    lm = HFAudio.create_from_arg_string(text, host)
    assert (lm._sizes.size, lm._max_new_tokens, lm._policy.long_audio, lm._prefetch) == (3, 7, "chunk", 0)
    if not torch.cuda.is_available():
        assert lm.device == torch.device("cpu") and "no CUDA device here" in caplog.text
    assert HFAudio.create_from_arg_obj({"pretrained": str(tiny), "device": "cpu"}, host)._sizes.size == 1
    with pytest.raises(ValueError, match="did you mean 'prefetch'"):
        HFAudio.create_from_arg_string("prefetchs=1", host)


@pytest.mark.parametrize("name", ["Qwen/Qwen2-Audio-7B-Instruct", "no such name at all", "nobody/nothing"])
def test_a_model_that_cannot_be_had_is_one_error(load: Load, name: str) -> None:
    with pytest.raises(ModelUnavailable, match=r"pretrained=<folder") as raised:
        load(pretrained=name)
    error = raised.value
    assert f"pretrained={name!r}" in str(error) and "pretrained=tiny" in str(error) and "\n" not in str(error)
    assert error.__suppress_context__ and error.__cause__ is None


def test_the_default_model(monkeypatch: Patch) -> None:
    with pytest.raises(ModelUnavailable, match="Qwen/Qwen2-Audio-7B-Instruct"):
        HFAudio()


def test_a_folder_without_a_model_and_a_model_without_ears(load: Load, tiny: Any, tmp_path: Any) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        load(pretrained=str(tmp_path))
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    tokenizer.save_pretrained(tmp_path)
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    config = Qwen2Config(vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, **heads)
    Qwen2ForCausalLM(config).save_pretrained(tmp_path)
    with pytest.raises(ModelUnavailable, match="feature extractor"):
        load(pretrained=str(tmp_path))
    with pytest.raises(ValueError, match="has no audio feature extractor"):
        Adapter(tokenizer)


def test_log_likelihoods_are_refused_with_the_reason(load: Load) -> None:
    for method in ("loglikelihood", "loglikelihood_rolling"):
        with pytest.raises(NotImplementedError, match="generate_until"):
            getattr(load(), method)([])


def test_the_results_say_who_answered(load: Load, shelf: Shelf) -> None:
    lm = load()
    assert lm.MULTIMODAL and (lm.rank, lm.world_size) == (0, 1)
    lm.generate_until(mixed(shelf)[:2])
    info = lm.get_model_info()
    assert json.loads(json.dumps(info)) == info
    model = info["dsb2_model"]
    assert model["class"] == "Qwen2AudioForConditionalGeneration" and model["adapter"] == "generic"
    assert model["dtype"] == info["model_dtype"] == "float32" and len(model["content"]) == 64
    assert model["time"]["answers_asked"] == 2 and model["time"]["answers_from_store"] == 0
    assert 100_000 < info["model_num_parameters"] < 1_000_000


# ---------------------------------------------------------------- decoding ahead


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_no_more_than_the_asked_for_batches_wait_decoded(load: Load, shelf: Shelf, monkeypatch: Patch, prefetch: int) -> None:
    requests = [request("What is said?", shelf.put(tone(200 + 10 * i, 0.5)), max_gen_toks=1) for i in range(20)]
    lm = load(batch_size=2, prefetch=prefetch)
    prepared = [0]
    prepare = lm._pipeline._preparer.prepare

    def counting(question: Any) -> Any:
        prepared[0] += 1
        return prepare(question)

    monkeypatch.setattr(lm._pipeline._preparer, "prepare", counting)
    ahead: list[int] = []

    def look(call: int, rows: int) -> None:
        ahead.append(prepared[0] - 2 * (call + 1))

    Listening(lm, monkeypatch, look)
    lm.generate_until(requests)
    assert len(ahead) == 10 and max(ahead) <= 2 * prefetch
