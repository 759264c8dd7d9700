"""The command of the mission, typed as a user types it."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable

import pytest

from dsb2_tasks import catalog
from dsb2_tasks.sources import Docs, open_rows

pytestmark = pytest.mark.slow  # each starts lm_eval anew
TINY = ("--model", "hf-audio", "--model_args", "pretrained=tiny", "--metadata", '{"data": "samples"}')
KNOWN = catalog.read_catalog([catalog.yaml_root()])


def check_tables(run: object, group: str, domains: int, tasks: int) -> None:
    rows, groups = run.table("Tasks"), run.table("Groups")
    members = KNOWN.members(group)
    assert len(members) == tasks
    assert sorted(row for row in rows if row in KNOWN.tasks) == sorted(members)
    listed = [g for g in groups if KNOWN.groups[g].spec.domain is not None]
    assert len(listed) == domains and group in groups
    assert "samples" in run.printed and "SAMPLE DATA" in run.printed


@pytest.mark.parametrize(
    ("group", "domains", "tasks"),
    [
        ("dsb2", 17, 180),
        # Parts of that one; the README's demo runs the first of them too.
        pytest.param("dsb2_speech", 8, 125, marks=pytest.mark.long),
        pytest.param("dsb2_music", 4, 28, marks=pytest.mark.long),
        pytest.param("dsb2_audio", 5, 27, marks=pytest.mark.long),
    ],
)
def test_group_runs_and_prints_every_row(lm_eval: Callable, group: str, domains: int, tasks: int) -> None:
    run = lm_eval("--tasks", group, *TINY, "--limit", "2", "--log_samples")
    check_tables(run, group, domains, tasks)
    results = run.results
    for name in KNOWN.members(group):
        spec = KNOWN.tasks[name].spec
        row = results["results"][name]
        assert f"{spec.metric},none" in row and results["versions"][name].endswith("-samples")
        for key, value in row.items():
            if "," in key:
                assert value == "N/A" or isinstance(value, float), (name, key, value)
        assert results["configs"][name]["metadata"]["dsb2"]["read_from"] == "samples"
        for sample in run.samples(name):
            assert len(json.dumps(sample)) < 20_000, "a logged sample holds text and handles, never audio"
    for name, row in results["groups"].items():
        numbers = [v for k, v in row.items() if "," in k]
        assert numbers and all(isinstance(v, (int, float)) and math.isfinite(v) for v in numbers), (name, row)
    assert results["groups"][group]["tasks,none"] == tasks


def test_text_is_no_answer_where_audio_is_asked_for(lm_eval: Callable) -> None:
    for library in ("pesq", "pystoi", "pyworld"):
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed: extra 'generation'")
    run = lm_eval("--tasks", "dsb2_generation", *TINY, "--limit", "1", "--log_samples")
    members = KNOWN.members("dsb2_generation")
    assert sorted(row for row in run.table("Tasks") if row in KNOWN.tasks) == sorted(members) and len(members) == 5
    assert run.results["groups"]["dsb2_generation"]["na_rate,none"] == 1.0
    for name in members:
        assert run.results["results"][name]["na_rate,none"] == 1.0
        (sample,) = run.samples(name)
        assert len(json.dumps(sample)) < 20_000


def test_all_names_are_listed(lm_eval: Callable) -> None:
    listed = lm_eval("ls", "subtasks").printed
    missing = [name for name in KNOWN.tasks if f"|{name}" not in listed.replace(" ", "")]
    assert len(KNOWN.tasks) == 187 + 5 and not missing


def test_no_hub_is_one_error_that_names_the_way_out(lm_eval: Callable) -> None:
    run = lm_eval("--tasks", "dsb2_superb_sd_libri2mix", "--model", "hf-audio", "--model_args", "pretrained=tiny", check=False)
    assert run.status != 0
    assert "data set 'DynamicSuperb/SuperbSD_Libri2Mix-Test'" in run.printed and "data=samples" in run.printed


def test_the_default_model_that_cannot_be_had_is_named(lm_eval: Callable) -> None:
    run = lm_eval("--tasks", "dsb2_superb_sd_libri2mix", "--model", "hf-audio", "--metadata", '{"data": "samples"}', check=False)
    assert run.status != 0
    assert "Qwen/Qwen2-Audio-7B-Instruct" in run.printed and "pretrained=" in run.printed


def test_a_tag_runs_tasks_across_groups_without_scoring_them(lm_eval: Callable) -> None:
    run = lm_eval("--tasks", "dsb2_turns", *TINY, "--limit", "2", "--predict_only")
    assert run.table("Tasks") == ["dsb2_superb_sd_libri2mix"]
    assert run.results["results"]["dsb2_superb_sd_libri2mix"]["bypass,none"] == 999
    assert len(run.samples("dsb2_superb_sd_libri2mix")) == 2


def test_chosen_samples_keep_their_numbers(lm_eval: Callable) -> None:
    name = "dsb2_superb_sd_libri2mix"
    spec = KNOWN.tasks[name].spec
    everything = Docs(name, spec, [open_rows(source, "samples", KNOWN.tasks[name].path.parent, name) for source in spec.data])
    chosen = lm_eval("--tasks", name, *TINY, "--log_samples", "--samples", json.dumps({name: [3, 0, 2]})).samples(name)
    assert {s["doc_id"]: s["doc"]["file"] for s in chosen} == {i: everything.text(i)["file"] for i in (0, 2, 3)}
