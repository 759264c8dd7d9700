"""Answers found again without the model, by the question alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from _requests import Listening, Shelf, request, tone

from dsb2_tasks.models import Answer, ResponseStore, StoreError, question_key, response_key, stored_answers
from dsb2_tasks.models._responses import Asked
from dsb2_tasks.models.hf_audio import HFAudio

Load = Callable[..., HFAudio]

MODEL = {"name": "some/model", "commit": "abc"}
ONE, TWO = question_key("What is said?", ["a" * 64]), question_key("What is said?", ["b" * 64])


def put(root: Path, question: str, text: str, *, model: dict[str, str] = MODEL, rank: int = 0, **settings: object) -> Path:
    store = ResponseStore(root, model, rank=rank)
    key = response_key(model, question, settings, [], {})
    store.add([(key, Answer(text))], {key: Asked(question, settings)})
    store.close()
    return store.folder


def test_the_question_is_text_and_clips_in_order() -> None:
    keys = [question_key("a", []), question_key("a", ["1"]), question_key("a", ["1", "2"]), question_key("a", ["2", "1"])]
    assert len({*keys, question_key("b", [])}) == 5 and all(len(key) == 64 for key in keys)


def test_answers_of_all_ranks_by_question(tmp_path: Path) -> None:
    folder = put(tmp_path, ONE, "yes")
    put(tmp_path, TWO, "no", rank=1)
    found = stored_answers(folder)
    assert found.answers == {ONE: Answer("yes"), TWO: Answer("no")} and found.model == MODEL and found.unnamed == 0
    assert stored_answers(tmp_path) == found, "the folder above, with one model in it"


def test_a_run_can_be_looked_up_by_what_lm_eval_logs(load: Load, shelf: Shelf) -> None:
    one, two = shelf.put(tone(300, 1)), shelf.put(tone(700, 1))
    lm = load(system_instruction="Be brief.")
    requests = [request("What is said?", one), request("Same speaker?", one, two), request("No clip.")]
    answers = lm.generate_until(requests)
    found = stored_answers(lm._store.folder)
    for asked, answer in zip(requests, answers, strict=True):
        handles = asked.args[2]["audio"] if len(asked.args) > 2 else []
        assert found.answers[question_key(asked.args[0], [h["sha256"] for h in handles])].text == answer
    assert found.model == lm.identity


def test_chat_strings_are_found_by_their_last_user_turn(load: Load, shelf: Shelf) -> None:
    lm = load()
    clip = shelf.put(tone(300, 1))
    turns = [{"role": "user", "content": "Say a."}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "Now?"}]
    (answer,) = lm.generate_until([request(lm.apply_chat_template(turns), clip)])
    assert stored_answers(lm._store.folder).answers[question_key("Now?", [clip["sha256"]])].text == answer


def test_records_of_older_versions_still_resume(load: Load, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [request("What is said?", shelf.put(tone(200 + 100 * i, 1))) for i in range(3)]
    lm = load()
    answers = lm.generate_until(requests)
    (path,) = lm._store.folder.glob("*.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records[1:3]:
        del record["question"], record["settings"]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    again = load()
    ear = Listening(again, monkeypatch)
    assert again.generate_until(requests) == answers and ear.asked == 0
    found = stored_answers(lm._store.folder)
    assert len(found.answers) == 1 and found.unnamed == 2
    path.write_text("".join(json.dumps(record) + "\n" for record in records[:3]))
    with pytest.raises(StoreError, match="none of its 2 answers says what was asked"):
        stored_answers(lm._store.folder)


def test_several_answers_to_one_question(tmp_path: Path) -> None:
    folder = put(tmp_path, ONE, "yes", max_new_tokens=1, rate=16000)
    put(tmp_path, ONE, "yes, it is", max_new_tokens=9, rate=16000)
    put(tmp_path, TWO, "no", max_new_tokens=9, rate=16000)
    with pytest.raises(StoreError, match=r"2 times with other settings: max_new_tokens \(1 or 9\); choose .* max_new_tokens="):
        stored_answers(folder)
    with pytest.raises(StoreError, match="max_new_tokens"):
        stored_answers(folder, {"rate": 16000})
    assert stored_answers(folder, {"max_new_tokens": 9}).answers == {ONE: Answer("yes, it is"), TWO: Answer("no")}
    # A choice only settles what is open: the other question has one answer.
    assert stored_answers(folder, {"max_new_tokens": 1}).answers == {ONE: Answer("yes"), TWO: Answer("no")}


def test_the_same_answer_under_other_settings_is_one(tmp_path: Path) -> None:
    folder = put(tmp_path, ONE, "yes", max_new_tokens=1)
    put(tmp_path, ONE, "yes", max_new_tokens=9)
    assert stored_answers(folder).answers == {ONE: Answer("yes")}


def test_what_is_no_store_of_one_model(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such folder"):
        stored_answers(tmp_path / "absent")
    with pytest.raises(StoreError, match="no response store in it"):
        stored_answers(tmp_path)
    put(tmp_path, ONE, "yes")
    put(tmp_path, ONE, "yes", model={"name": "other/model"})
    with pytest.raises(StoreError, match=r"2 models; .*some/model"):
        stored_answers(tmp_path)
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "responses-rank0.jsonl").write_text('{"dsb2_responses": 1, "model": []}\n')
    with pytest.raises(StoreError, match="no response store"):
        stored_answers(strange)


@pytest.mark.parametrize(
    "change",
    [{"question": 5}, {"question": "short"}, {"settings": []}, {"settings": None}],
    ids=["number", "short", "list", "null"],
)
def test_records_of_another_form_are_named_and_not_read(tmp_path: Path, change: dict, caplog: pytest.LogCaptureFixture) -> None:
    folder = put(tmp_path, ONE, "yes")
    put(tmp_path, TWO, "no")
    (path,) = folder.glob("*.jsonl")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], json.dumps({**json.loads(lines[2]), **change})]) + "\n")
    assert stored_answers(folder).answers == {ONE: Answer("yes")}
    assert "line 3" in caplog.text


def test_no_heavy_library_is_needed() -> None:
    code = "import sys; import dsb2_tasks.models; print(sorted({'torch', 'lm_eval', 'numpy', 'datasets'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
