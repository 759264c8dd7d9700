"""Task files are read strictly; a fault names file, key and fix, and a stranger's broken file harms nobody else."""

from __future__ import annotations

import json
import logging
import re
import time
from pathlib import Path
from typing import get_args

import pytest
import yaml

from dsb2_tasks import catalog
from dsb2_tasks.metrics import NORMALIZERS
from dsb2_tasks.spec import OFFICIAL_SUITE, Normalizer, SpecError, read_spec

GOOD = {
    "task": "my_task",
    "dsb2": {
        "kind": "transcript",
        "metric": "wer",
        "modality": "speech",
        "domain": "speech_recognition",
        "data": [{"path": "./clips"}],
        "prompt": "Write it down.",
    },
}


def write(path: Path, text: str | dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else yaml.safe_dump(text), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"metrc": "wer"}, r"dsb2\.metrc: unknown key; did you mean 'metric'\?"),
        ({"zzz": 1}, r"dsb2\.zzz: unknown key; known keys: .*aliases"),
        ({"data": [{"path": "a/b", "revison": "x"}]}, r"dsb2\.data\.0\.revison: unknown key; did you mean 'revision'\?"),
        ({"data": [{"path": "a/b", "revision": "main"}]}, r"dsb2\.data\.0\.revision: .*\(value: 'main'\)"),
        ({"data": []}, r"dsb2\.data: "),
        ({"kind": "transcipt"}, r"dsb2\.kind: .*'transcript'"),
        ({"options": ["yes", True]}, r"dsb2\.options.*option True is a bool, not text: put it in quotes"),
        ({"options": ["a", "b", "a"]}, r"options listed twice: 'a'"),
        ({"options": ["a"], "aliases": {"b": ["c"]}}, r"aliases for what is no option: 'b'"),
        ({"modality": "music"}, r"domain 'speech_recognition' belongs to modality 'speech', not 'music'"),
        ({"suite": OFFICIAL_SUITE, "domain": "cooking"}, r"domain 'cooking' is none of the 17"),
    ],
)
def test_faults_name_file_key_and_fix(change: dict, said: str) -> None:
    with pytest.raises(SpecError, match=said) as caught:
        read_spec({**GOOD, "dsb2": {**GOOD["dsb2"], **change}}, "my.yaml")
    assert all(line.startswith("my.yaml: ") for line in str(caught.value).splitlines())


def test_missing_key_is_named() -> None:
    block = {k: v for k, v in GOOD["dsb2"].items() if k != "domain"}
    with pytest.raises(SpecError, match=r"my.yaml: dsb2\.domain: key is missing"):
        read_spec({"dsb2": block}, "my.yaml")


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        read_spec({"dsb2": {**GOOD["dsb2"], "metrc": 1, "kind": "x"}}, "my.yaml")
    assert len(str(caught.value).splitlines()) == 2


def test_the_task_wins_over_its_template() -> None:
    config = {"dsb2_template": {"metric": "wer", "secondary": ["cer"]}, "dsb2": {**GOOD["dsb2"], "metric": "cer"}}
    spec = read_spec(config, "x")
    assert (spec.metric, spec.secondary) == ("cer", ("cer",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task: [", "not valid YAML"),
        ("- a\n", "a mapping is needed, found list"),
        ("include: nowhere.yaml\ntask: a\n", "include: 'nowhere.yaml' does not exist"),
        ("include: a.yaml\ntask: a\n", "includes itself"),
        ("[" * 5000, "not valid YAML|nested too deeply"),
        ("task: !!python/object/apply:os.system [echo]\n", "not valid YAML"),
    ],
)
def test_unreadable_files(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "a.yaml", text)
    with pytest.raises(SpecError, match=said) as caught:
        catalog.load_config(path)
    assert str(caught.value).startswith(str(tmp_path))


def test_functions_stay_text_in_the_catalogue(tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "task: a\nclass: !function os.system\n")
    assert catalog.load_config(path)["class"] == "os.system"


def test_include_chain_is_merged_shallowly(tmp_path: Path) -> None:
    write(tmp_path / "_base.yaml", "generation_kwargs: {until: [], max_gen_toks: 1}\nb: 1\n")
    write(tmp_path / "_mid.yaml", "include: _base.yaml\ngeneration_kwargs: {max_gen_toks: 2}\n")
    path = write(tmp_path / "sub" / "a.yaml", "include: ../_mid.yaml\ntask: a\n")
    assert catalog.load_config(path) == {"generation_kwargs": {"max_gen_toks": 2}, "b": 1, "task": "a"}


def test_a_strangers_broken_file_is_told_and_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path / "good.yaml", GOOD)
    write(tmp_path / "bad.yaml", {**GOOD, "task": "bad", "dsb2": {**GOOD["dsb2"], "metrc": "x"}})
    write(tmp_path / "other.yaml", "task: plain_lm_eval_task\ndataset_path: x\n")
    write(tmp_path / "_template.yaml", "task: [")
    with caplog.at_level(logging.WARNING, logger="dsb2_tasks.catalog"):
        known = catalog.read_catalog([tmp_path])
    assert list(known.tasks) == ["my_task"]
    assert [fault.path.name for fault in known.faults] == ["bad.yaml"]
    assert "did you mean 'metric'" in known.faults[0].reason and "bad.yaml" in caplog.text


def test_a_broken_official_file_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "yaml_root", lambda: tmp_path)
    write(tmp_path / "bad.yaml", {**GOOD, "dsb2": {"metrc": "x"}, "dsb2_template": {}})
    with pytest.raises(SpecError, match=r"bad\.yaml"):
        catalog.read_catalog([tmp_path])


def test_further_folders_come_after_our_own_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv(catalog.TASKS_PATH, os.pathsep.join([str(tmp_path), "", str(tmp_path), str(catalog.yaml_root())]))
    assert catalog.search_paths() == [catalog.yaml_root(), tmp_path]


def test_a_later_folder_wins(tmp_path: Path) -> None:
    write(tmp_path / "a" / "x.yaml", GOOD)
    write(tmp_path / "b" / "x.yaml", GOOD)
    known = catalog.read_catalog([tmp_path / "a", tmp_path / "b"])
    assert known.tasks["my_task"].path.parent.name == "b"


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"title": "T", "suite": "s", "domain": "d", "groups": ["g"]}, "at most one of domain, groups and tasks"),
        ({"suite": "s", "domain": "d"}, "title, suite"),
        ({"title": "T", "suite": "s", "domian": "d"}, "unknown keys \\['domian'\\]"),
        ("text", "no mapping"),
        ({"title": "T", "suite": "s", "tasks": ["a", [[]]]}, r"dsb2_group\.tasks: a list of names is needed"),
        ({"title": "T", "suite": "s", "mean": True}, r"dsb2_group\.mean: a name is needed, found True"),
    ],
)
def test_group_blocks_are_strict(tmp_path: Path, block: object, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        catalog.read_group(tmp_path / "g.yaml", {"task": "g", "dsb2_group": block})


def test_a_file_without_template_is_completed_from_its_kind() -> None:
    config = catalog.complete({"task": "x", "dsb2": {"kind": "transcript"}}, "my.yaml")
    assert config["dsb2_template"]["kind"] == "transcript" and config["generation_kwargs"]["until"] == []
    config["generation_kwargs"]["until"].append("x")
    assert catalog.complete({"task": "x", "dsb2": {"kind": "transcript"}}, "my.yaml")["generation_kwargs"]["until"] == []


@pytest.mark.parametrize(
    ("block", "said"), [({}, "dsb2.kind: key is missing"), ({"kind": "songs"}, "no template for kind 'songs'; there are beats, ")]
)
def test_a_file_without_template_needs_a_known_kind(block: dict, said: str) -> None:
    with pytest.raises(SpecError, match=f"my.yaml: .*{said}"):
        catalog.complete({"task": "x", "dsb2": block}, "my.yaml")


def test_a_normaliser_is_one_that_there_is() -> None:
    assert set(get_args(Normalizer)) == set(NORMALIZERS)
    with pytest.raises(SpecError, match=r"x\.yaml: dsb2\.normalizer: .*did you mean 'norm_zh'\?"):
        read_spec({"dsb2": {**GOOD["dsb2"], "normalizer": "norm_zhh"}}, "x.yaml")  # type: ignore[dict-item]


@pytest.mark.parametrize("number", ["0x" + "F" * 4000, "1:" * 300_000 + "1", "!!int ''", "!!bool x", "!!timestamp x"])
def test_a_value_that_yaml_stumbles_over_costs_one_file(tmp_path: Path, number: str) -> None:
    write(tmp_path / "good.yaml", GOOD)
    path = tmp_path / "bad.yaml"
    path.write_text(f"task: other\ndsb2: {{rows: {number}}}\n")
    known = catalog.read_catalog([tmp_path])
    assert list(known.tasks) == ["my_task"] and [fault.path for fault in known.faults] == [path]
    assert f"{path}: not valid YAML" in known.faults[0].reason


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({f"k{i}": 1 for i in range(5_000)}, "4980 more faults"),
        ({"options": [f"o{i % 10_000}" for i in range(20_000)]}, "options listed twice: 'o0', .* and 9990 more"),
        ({"options": ["a"], "aliases": {f"o{i}": [] for i in range(5_000)}}, "aliases for what is no option: 'o0', .* more"),
        ({"kind": "x" * 100_000}, "no template for kind 'xxx"),
        ({"aliases": {"x" * 1_000: [None]}}, r"dsb2\.aliases\.x{77}\.\.\..*valid string"),
        ({"x" * 1_000: 1}, r"dsb2\.x{77}\.\.\.: unknown key"),
    ],
    ids=["unknown keys", "options twice", "aliases", "kind", "long key of aliases", "long unknown key"],
)
def test_thousands_of_faults_are_told_soon_and_briefly(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = write(tmp_path / "x.yaml", json.dumps({**GOOD, "dsb2": {**GOOD["dsb2"], **change}}))  # type: ignore[dict-item]
    start = time.process_time()
    (fault,) = catalog.read_catalog([path.parent]).faults
    assert time.process_time() - start < 4
    assert len(fault.reason) < 10_000 and re.search(said, fault.reason, re.DOTALL)
