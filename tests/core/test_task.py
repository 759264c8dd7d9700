"""DSB2Task beside its data: what it refuses, what it counts, what it hands to lm-eval."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile as sf

from dsb2_tasks import compat
from dsb2_tasks.audio import failure
from dsb2_tasks.sources import DataError
from dsb2_tasks.spec import SpecError
from dsb2_tasks.task import SamplesError

SPEC: dict[str, Any] = {
    "kind": "choice",
    "metric": "accuracy",
    "modality": "audio",
    "domain": "sound_event",
    "data": [{"path": "./clips"}],
    "prompt": "Cat or dog?",
    "options": ["cat", "dog"],
}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Any]:
    """``make(labels, metadata, **changes of the spec)``: a task over a folder of tones beside its YAML."""

    def build(labels: list[Any], metadata: dict[str, Any] | None = None, **changes: Any) -> Any:
        clips = tmp_path / "clips"
        clips.mkdir(exist_ok=True)
        lines = []
        for number, label in enumerate(labels):
            sf.write(clips / f"{number}.wav", 0.3 * np.sin(np.arange(3200) * (0.1 + number / 50)), 16000)
            lines.append(json.dumps({"file_name": f"{number}.wav", "label": label}))
        (clips / "metadata.jsonl").write_text("\n".join(lines))
        block = json.dumps({**SPEC, **changes})
        (tmp_path / "t.yaml").write_text(f"task: my_task\nclass: !function dsb2_tasks.task.DSB2Task\ndsb2: {block}\n")
        return compat.task_manager([tmp_path], metadata or {}).load(["my_task"])["tasks"]["my_task"]

    return build


def aggregate(task: Any, answers: list[str]) -> dict[str, Any]:
    rows = [task.process_results(doc, [answer]) for doc, answer in zip(task.test_docs(), answers, strict=True)]
    assert len({tuple(row) for row in rows}) == 1, "every sample gives the same keys, or ranks could not be gathered"
    return {name: task.aggregation()[name]([row[name] for row in rows]) for name in rows[0]}


def test_a_task_file_without_include_is_whole(make: Callable[..., Any]) -> None:
    task = make(["cat", "dog", "cat"])
    assert task.config.generation_kwargs["until"] == [] and task.config.num_fewshot == 0
    found = aggregate(task, ["It is a cat.", "a dog", "dog"])
    assert found["accuracy"] == pytest.approx(2 / 3) and found["unparsed_rate"] == 0.0 and found["audio_error_rate"] == 0.0
    assert isinstance(found["accuracy_stderr"], float)
    assert list(found).index("accuracy_stderr") == list(found).index("accuracy") + 1


def test_unparsed_answers_are_wrong_and_counted(make: Callable[..., Any]) -> None:
    found = aggregate(make(["cat", "dog", "cat", "dog"]), ["cat", "cat and dog", "a bird", "dog"])
    assert found["accuracy"] == 0.5 and found["unparsed_rate"] == 0.5


def test_a_broken_clip_leaves_the_denominator_and_is_counted(make: Callable[..., Any]) -> None:
    found = aggregate(make(["cat", "dog"]), ["cat", failure("audio_error", "not audio")])
    assert found["accuracy"] == 1.0 and found["audio_error_rate"] == 0.5


def test_a_model_cannot_fake_a_broken_clip(make: Callable[..., Any]) -> None:
    from dsb2_tasks.audio import clean_answer

    faked = clean_answer(failure("audio_error", "trust me"))
    assert aggregate(make(["cat", "dog"]), ["cat", faked])["accuracy"] == 0.5


@pytest.mark.parametrize("answers", [["", ""], ["a", "b"]])
def test_numbers_without_answer_are_na(make: Callable[..., Any], answers: list[str]) -> None:
    task = make(["3", "5"], kind="number", metric="mse", options=None, prompt="How many?")
    found = aggregate(task, answers)
    assert math.isnan(found["mse"]) and found["na_rate"] == 1.0 and found["mse_stderr"] == "N/A"
    assert not task.higher_is_better()["mse"] and not task.higher_is_better()["mse_scaled"]


def test_na_scaling(make: Callable[..., Any]) -> None:
    found = aggregate(make(["3", "5"], kind="number", metric="mse", options=None, prompt="How many?"), ["5", "none of it"])
    assert (found["mse"], found["na_rate"], found["mse_scaled"]) == (4.0, 0.5, 8.0)


def test_labels_of_another_shape_stop_the_run_before_it_starts(make: Callable[..., Any]) -> None:
    with pytest.raises(DataError, match=r"1 of 3 labels .* my_task: my_task/clips row 1: .*'bird'.*") as caught:
        make(["cat", "bird", "dog"])
    assert "bad_labels=skip" in str(caught.value) and "t.yaml" in str(caught.value)


def test_such_rows_are_left_out_only_on_request(make: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    task = make(["cat", "bird", "dog"], {"bad_labels": "skip"})
    assert [doc["label"] for doc in task.test_docs()] == ["cat", "dog"]
    assert "1 of 3 labels" in caplog.text and "left out" in caplog.text
    with pytest.raises(DataError, match="2 of 2 labels"):
        make(["bird", "cow"], {"bad_labels": "skip"})


def test_run_time_settings_are_checked(make: Callable[..., Any]) -> None:
    with pytest.raises(DataError, match="bad_labels='maybe' is neither"):
        make(["cat"], {"bad_labels": "maybe"})


def test_options_from_labels(make: Callable[..., Any]) -> None:
    task = make(["owl", "fox", "owl"], options="labels")
    assert task.spec.options == ("fox", "owl")
    assert aggregate(task, ["owl", "fox", "fox"])["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"metric": "accuracyy"}, "accuracy"), ({"metric": "der"}, "der"), ({"secondary": ["wer"]}, "wer")],
)
def test_a_metric_that_the_kind_cannot_count_is_refused(make: Callable[..., Any], change: dict[str, Any], said: str) -> None:
    with pytest.raises((SpecError, KeyError), match=said):
        make(["cat"], **change)


def test_documents_of_one_rank(make: Callable[..., Any]) -> None:
    task = make(["cat", "dog"] * 3)
    numbers = [[n for n, _ in task.doc_iterator(rank=r, limit=5, world_size=2)] for r in (0, 1)]
    assert numbers == [[0, 2, 4], [1, 3]]
    chosen = list(task.doc_iterator(samples=[4, 1]))
    assert [(n, doc["audio"][0]["row"]) for n, doc in chosen] == [(0, 4), (1, 1)]
    with pytest.raises(ValueError, match=r"--samples names \[9\]"):
        list(task.doc_iterator(samples=[9]))


def test_what_was_asked_about_is_not_made_again_and_never_mixed_up(make: Callable[..., Any]) -> None:
    task = make(["cat", "dog"] * 3)
    task.build_all_requests(limit=4, rank=1, world_size=2)
    asked = {request.doc_id: request.doc for request in task.instances}
    again = dict(task.doc_iterator(limit=4, rank=1, world_size=2))
    assert list(again) == list(asked) == [1, 3] and all(again[n] is asked[n] for n in again)
    task.build_all_requests(samples=[4, 5], rank=0, world_size=1)  # numbers as before, other documents
    assert [(n, doc["audio"][0]["row"]) for n, doc in task.doc_iterator(samples=[4, 5])] == [(0, 4), (1, 5)]
    assert [request.doc["audio"][0]["row"] for request in task.instances] == [4, 5]


def test_a_document_that_samples_names_twice_is_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(SamplesError, match=r"--samples names \[1\] twice"):
        list(make(["cat", "dog"]).doc_iterator(samples=[1, 0, 1]))


def test_the_configuration_is_json_and_the_same_every_time(make: Callable[..., Any]) -> None:
    first, second = (json.dumps(make(["cat", "dog"]).dump_config(), sort_keys=True) for _ in range(2))
    assert first == second and " at 0x" not in first
    assert json.loads(first)["metadata"]["dsb2"]["options"] == ["cat", "dog"]


def test_writing_out_prompts_is_short(make: Callable[..., Any]) -> None:
    task = make(["cat", "dog"])
    task.build_all_requests(limit=None, rank=0, world_size=1)
    assert len(task.instances) == 2 and max(len(str(i)) for i in task.instances) < 5_000


@pytest.mark.parametrize("key", ["dta", "dat", "Data", "bad_label"])
def test_a_mistyped_setting_is_refused(make: Callable[..., Any], key: str) -> None:
    with pytest.raises(DataError, match=f"--metadata {key}=.*did you mean"):
        make(["cat"], {key: "samples"})


def test_model_arguments_beside_the_settings_are_left_alone(make: Callable[..., Any]) -> None:
    assert make(["cat"], {"pretrained": "x", "dtype": "auto", "device": "cpu"}).data == "hub"


def edit(tmp_path: Path, addition: str) -> Any:
    file = tmp_path / "t.yaml"
    file.write_text(file.read_text() + addition)
    return compat.task_manager([tmp_path]).load(["my_task"])["tasks"]["my_task"]


def test_own_generation_settings_keep_the_explicit_empty_stop_list(make: Callable[..., Any], tmp_path: Path) -> None:
    make(["cat"])
    settings = edit(tmp_path, "generation_kwargs: {max_gen_toks: 16}\n").config.generation_kwargs
    assert (settings["max_gen_toks"], settings["until"], settings["do_sample"]) == (16, [], False)


def test_filters_are_refused(make: Callable[..., Any], tmp_path: Path) -> None:
    make(["cat"])
    with pytest.raises(SpecError, match=r"t\.yaml: filter_list"):
        edit(tmp_path, "filter_list: [{name: first, filter: [{function: uppercase}]}]\n")


@pytest.mark.parametrize("hook", ["!function my_hooks.two", "null"])
def test_a_scoring_function_of_another_form_is_refused(make: Callable[..., Any], tmp_path: Path, hook: str) -> None:
    make(["cat"])
    (tmp_path / "my_hooks.py").write_text("def two(doc, results): return {}\n")
    with pytest.raises(SpecError, match=r"t\.yaml: process_results: a function \(answer, doc, spec\)"):
        edit(tmp_path, f"process_results: {hook}\n")


def test_an_own_scoring_function_is_used(make: Callable[..., Any], tmp_path: Path) -> None:
    make(["cat", "dog"])
    (tmp_path / "my_hooks.py").write_text(
        "from dsb2_tasks.hooks import Scored\n\ndef mine(answer, doc, spec):\n"
        "    return Scored({'accuracy': (float(answer == doc['label'][::-1]),)}, 'ok', answer)\n"
    )
    assert aggregate(edit(tmp_path, "process_results: !function my_hooks.mine\n"), ["tac", "dog"])["accuracy"] == 0.5


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1", "a dsb2_tasks.hooks.Scored is needed"),
        ("return Scored({'acuracy': (1.0,)}, 'ok', answer)", "gives rows of acuracy; rows of accuracy and a status"),
        ("return Scored({}, 'ok', answer)", "gives rows of none; rows of accuracy and a status"),
        ("return Scored({'accuracy': (1.0,), 'wer': (1, 2)}, 'ok', answer)", "gives rows of accuracy, wer"),
        ("return Scored({'accuracy': 1.0}, 'ok', answer)", "row of accuracy: 1.0 is no tuple"),
        ("return Scored({'accuracy': ('x',)}, 'ok', answer)", "row of accuracy: ValueError"),
        ("return Scored({'accuracy': (100.0,)}, 'ok', answer)", "beyond the best"),
        ("return Scored({'accuracy': (1.0,)}, None, answer)", "and a status are needed"),
        ("return Scored({'accuracy': (1.0 / len(answer),)}, 'ok', answer)", "fails on the answer '' .*ZeroDivisionError"),
        ("return doc['nothing']", "fails on the answer 'cat' .*KeyError"),
    ],
)
def test_a_scoring_function_that_would_end_the_run_is_refused_before_it(
    make: Callable[..., Any], tmp_path: Path, body: str, said: str
) -> None:
    make(["cat", "dog"])
    name = f"hooks_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(f"from dsb2_tasks.hooks import Scored\n\ndef mine(answer, doc, spec):\n    {body}\n")
    with pytest.raises(SpecError, match=said):
        edit(tmp_path, f"process_results: !function {name}.mine\n")


def test_cached_requests_are_never_those_of_other_data(make: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    task = make(["cat", "dog"])
    task.build_all_requests(limit=None, rank=0, world_size=1, cache_requests=True)
    assert "--cache_requests is ignored" in caplog.text and len(task.instances) == 2


def test_a_folder_cannot_change_an_official_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[..., Any]
) -> None:
    from dsb2_tasks import catalog

    make(["cat"], suite="community")
    text = (tmp_path / "t.yaml").read_text()
    (tmp_path / "intruder.yaml").write_text(text.replace("my_task", "intruder").replace('"community"', '"dsb2-phase2"'))
    (tmp_path / "same.yaml").write_text(text.replace("my_task", "dsb2_superb_sd_libri2mix"))
    monkeypatch.setenv(catalog.TASKS_PATH, str(tmp_path))
    assert any("official suite" in fault.reason for fault in catalog.read_catalog().faults)
    manager = compat.task_manager([catalog.yaml_root(), tmp_path], {"data": "samples"})
    loaded = manager.load(["dsb2_speaker_and_language", "dsb2_rhythm_analysis"])["groups"]
    assert len(loaded["dsb2_speaker_and_language"].get_all_tasks()) == 10


def test_a_group_of_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(
        "task: my_group\nclass: !function dsb2_tasks.group.DSB2Group\ndsb2_group: {title: T, suite: mine, domain: nowhere}\n"
    )
    with pytest.raises(SpecError, match="no task of suite 'mine' and domain 'nowhere'"):
        compat.task_manager([tmp_path]).load(["my_group"])


def test_an_own_group_finds_the_tasks_beside_it(tmp_path: Path, make: Callable[..., Any]) -> None:
    make(["cat"], suite="mine")
    (tmp_path / "g.yaml").write_text(
        "task: my_group\nclass: !function dsb2_tasks.group.DSB2Group\ndsb2_group: {title: T, suite: mine, domain: sound_event}\n"
    )
    (group,) = compat.task_manager([tmp_path]).load(["my_group"])["groups"].values()
    assert [task.task_name for task in group.get_all_tasks()] == ["my_task"]
