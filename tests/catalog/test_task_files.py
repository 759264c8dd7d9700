"""The 180 tasks, the seven extras, the templates and the groups are what the paper's and the authors' lists say."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import get_args

import catalog_checks
import pytest
from lm_eval.tasks import _index

from dsb2_tasks import catalog
from dsb2_tasks.spec import DOMAINS, OFFICIAL_SUITE, Kind

ROOT = catalog.yaml_root()
FILES = catalog_checks.task_files(ROOT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_task_file(path: Path) -> None:
    assert list(catalog_checks.task_faults(path, ROOT)) == []


@pytest.mark.parametrize("kind", get_args(Kind))
def test_template(kind: str) -> None:
    assert list(catalog_checks.template_faults(ROOT / f"_{kind}.yaml", ROOT)) == []


def test_there_is_a_template_per_kind_and_no_other() -> None:
    assert {path.stem[1:] for path in catalog_checks.template_files(ROOT)} == set(get_args(Kind))


def test_groups() -> None:
    assert list(catalog_checks.group_faults(ROOT)) == []


def test_numbers_of_tasks_and_tags() -> None:
    assert list(catalog_checks.tree_faults(ROOT)) == []
    assert sum(catalog_checks.DOMAIN_COUNTS.values()) == 180


def test_modalities_have_125_28_and_27_tasks() -> None:
    specs = [task.spec for task in catalog.read_catalog([ROOT]).tasks.values() if task.spec.suite == OFFICIAL_SUITE]
    assert Counter(spec.modality for spec in specs) == {"speech": 125, "music": 28, "audio": 27}


def test_no_yaml_file_is_outside_the_checked_folders() -> None:
    checked = {*FILES, *catalog_checks.template_files(ROOT), ROOT / "_base.yaml", *(ROOT / "groups").glob("*.yaml")}
    assert set(ROOT.glob("**/*.yaml")) == checked


def test_members_of_groups_are_the_suite_without_the_extras() -> None:
    known = catalog.read_catalog([ROOT])
    assert known.faults == []
    assert len(known.tasks) == 187 + 5
    assert len(known.members("dsb2")) == 180
    assert set(known.members("dsb2")).isdisjoint(catalog_checks.EXTRA_TASKS | catalog_checks.GENERATION_TASKS)
    assert set(known.members("dsb2_generation")) == catalog_checks.GENERATION_TASKS
    for domain in DOMAINS:
        assert len(known.members(f"dsb2_{domain}")) == catalog_checks.DOMAIN_COUNTS[domain]


def test_lm_eval_indexes_every_file(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        index = _index.TaskIndex.build([ROOT])
    kinds = Counter(entry.kind for entry in index.values())
    assert kinds[_index.Kind.PY_TASK] == 187 + 5 + 23 + 7
    assert len(index["dsb2_2025"].tags) == 181
    assert caplog.records == []


def test_both_readers_see_the_same_file() -> None:
    for path in FILES:
        ours, theirs = catalog.load_config(path), catalog_checks.merged(path)
        for config in (ours, theirs):  # where functions are named differs: lm-eval puts the folder before it
            for key in ("class", "process_results", "doc_to_text", "doc_to_audio", "doc_to_target"):
                config[key] = Path(config[key]).name
        assert ours == theirs, path


def test_the_parts_of_ood_asr_are_the_extras() -> None:
    known = catalog.read_catalog([ROOT]).tasks
    parts = {source.language: source for source in known["dsb2_superb_ood_asr"].spec.data}
    assert list(parts) == ["es", "ar", "zh", "en"]
    for language, name in (("es", "es"), ("ar", "ar"), ("zh", "zh"), ("en", "spontaneous")):
        spec = known[f"dsb2_superb_ood_asr_{name}"].spec
        assert spec.language == language
        assert [(s.path, s.revision) for s in spec.data] == [(parts[language].path, parts[language].revision)]


@pytest.mark.parametrize(
    ("name", "clips"),
    [
        ("nbest_correction_librispeech_other", ()),
        ("superb_qbe_quesst14", (("query", "audio"), ("doc", "audio2"))),
        ("superb_sv_hidden_set", (("audio",), ("audio2",))),
        ("sentence_grammar_sblimp", (("audio", "audio1"), ("audio2",))),
        ("pronunciation_similarity_voxangeles", (("audio", "audio1"), ("audio2",), ("audio3",))),
        ("semantic_similarity_spoken_sts", (("audio", "audio1"), ("audio2",), ("audio3",), ("audio4",))),
        ("superb_asr_librispeech", (("audio",),)),
    ],
)
def test_clips(name: str, clips: tuple[tuple[str, ...], ...]) -> None:
    assert catalog.read_catalog([ROOT]).tasks[f"dsb2_{name}"].spec.audio_columns == clips


def test_the_truth_is_hidden_where_it_stands_in_a_column() -> None:
    hidden = {name: task.spec.hidden for name, task in catalog.read_catalog([ROOT]).tasks.items() if task.spec.hidden}
    assert set(hidden.values()) == {("transcription",)}
    assert {n for n in hidden if "speech_text_matching" in n} == {n for n in hidden} - {
        "dsb2_superb_sf_audiosnips",
        "dsb2_code_switching_asr_ascend",
    }
    assert len(hidden) == 5


def test_tasks_that_need_their_channels_keep_them() -> None:
    keep = {name for name, task in catalog.read_catalog([ROOT]).tasks.items() if task.spec.channels == "keep"}
    assert keep == {
        "dsb2_multichannel_sound_event_starss23",
        "dsb2_sound_position_prediction",
        "dsb2_audio_spatial_distance_prediction",
    }


def test_lines_are_short() -> None:
    long = [f"{path}:{n}" for path in ROOT.glob("**/*.yaml") for n, line in enumerate(path.open(), 1) if len(line) > 131]
    assert long == []
