"""What a report says is what the rest of the project counts."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _report_runs import ASR, TASKS, write_run

from dsb2_tasks.baseline import make_baseline, read_baseline
from dsb2_tasks.comparison import compare
from dsb2_tasks.report import MOST_RUNS, Drawing, ReportError, build
from dsb2_tasks.results import Reading, ResultsError, Run, read_run
from dsb2_tasks.scoring import domain_score

QUICK = Drawing(draws=200)


def _domain(report, slug):
    return next(domain for domain in report.domains if domain.slug == slug)


def test_improvements_and_domain_means_are_those_of_the_baseline(folder: Path, runs: dict[str, Run]) -> None:
    baseline = read_baseline(str(folder / "cascade"))
    report = build([runs["mira"]], baseline, how=QUICK)
    expected = {name: baseline.improvement(result) for name, result in runs["mira"].tasks.items()}
    for row in report.tasks:
        gain = row.cells[0].gain
        if expected[row.name].reason is None:
            assert gain.interval.value == pytest.approx(expected[row.name].value)
            assert gain.interval.low <= gain.interval.value <= gain.interval.high
            assert gain.reason is None
        else:
            assert (gain.interval, gain.reason) == (None, expected[row.name].reason)
    for domain in report.domains:
        own = {row.name: expected[row.name].value for row in report.tasks if row.spec.domain == domain.slug}
        score, cell = domain_score(own), domain.cells[0]
        assert (cell.score.kept, cell.score.left_out) == (score.kept, score.left_out)
        if score.kept:
            assert cell.interval.value == pytest.approx(score.mean)
            assert cell.interval.low < score.mean < cell.interval.high


def test_a_system_over_itself_is_paired_so_its_interval_is_nothing(folder: Path, runs: dict[str, Run]) -> None:
    report = build([runs["cascade"]], read_baseline(str(folder / "cascade")), how=QUICK)
    intervals = [row.cells[0].gain.interval for row in report.tasks if row.cells[0].gain.interval]
    assert len(intervals) >= 8
    assert all((i.value, i.low, i.high) == (0, 0, 0) for i in intervals)


def test_documents_pair_by_content_not_by_order(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, "once", right=0.6, tasks=TASKS[:4]))
    table = make_baseline(run)
    for entry in table["tasks"]:
        entry["keys"].reverse()
        entry["rows"].reverse()
    file = tmp_path / "turned.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    report = build([run], read_baseline(str(file)), how=QUICK)
    intervals = [row.cells[0].gain.interval for row in report.tasks if row.cells[0].gain.interval]
    assert intervals
    assert all((i.value, i.low, i.high) == (0, 0, 0) for i in intervals)


def test_other_documents_than_the_baselines_are_drawn_apart(folder: Path, runs: dict[str, Run]) -> None:
    report = build([runs["evil"]], read_baseline(str(folder / "cascade")), how=QUICK)  # two answers a document, not three
    interval = next(row.cells[0].gain.interval for row in report.tasks if row.name == ASR)
    assert interval.low < interval.value < interval.high


@pytest.mark.parametrize(("error", "wider"), [("", False), ("0.2", True)], ids=["taken as exact", "with its error"])
def test_a_published_number_is_drawn_from_its_error(error: str, wider: bool, runs: dict[str, Run], tmp_path: Path) -> None:
    file = tmp_path / "published.csv"
    file.write_text(f"task,metric,value,stderr,version\n{ASR},wer,0.5,{error},1-samples\n", encoding="utf-8")
    report = build([runs["mira"]], read_baseline(str(file)), how=QUICK)
    gains = {row.name: row.cells[0].gain for row in report.tasks}
    interval = gains.pop(ASR).interval
    value = runs["mira"].tasks[ASR].values["wer"].value
    assert interval.value == pytest.approx((0.5 - value) / 0.5)
    assert (interval.high - interval.low > 1.2) == wider
    assert {gain.reason for gain in gains.values()} == {"the baseline has no number for this task"}


def test_other_data_than_the_baselines_is_left_out_with_the_reason(folder: Path, tmp_path: Path) -> None:
    write_run(tmp_path, "real", right=0.5, tasks=[ASR], version="1")
    report = build([read_run(tmp_path / "real")], read_baseline(str(folder / "cascade")), how=QUICK)
    assert report.tasks[0].cells[0].gain.reason == "data: real data here, sample data in the baseline"
    assert report.domains[0].cells[0].interval is None
    assert report.domains[0].cells[0].score.left_out == (ASR,)


def test_without_a_baseline_there_is_no_mean_over_tasks(runs: dict[str, Run]) -> None:
    report = build([runs["mira"]], how=QUICK)
    assert report.baseline is None
    assert all(row.cells[0].gain is None for row in report.tasks)
    assert all((d.cells[0].score, d.cells[0].interval) == (None, None) for d in report.domains)


def test_improvements_that_the_run_counted_are_shown_with_their_own_errors(runs: dict[str, Run]) -> None:
    name = ASR
    own = runs["mira"].tasks[name]
    told = replace(
        own, values={**own.values, "relative_improvement": Reading(0.25, 0.1, True)}, baseline={"name": "cascade"}, left_out=None
    )
    other = replace(runs["mira"].tasks["dsb2_superb_qbe_quesst14"], baseline={"name": "cascade"}, left_out="the baseline is 0")
    report = build([replace(runs["mira"], tasks={name: told, other.task: other})], how=Drawing(draws=4000))
    gains = {row.name: row.cells[0].gain for row in report.tasks}
    assert report.baseline == "cascade"
    assert report.caveats == (
        "Improvements are as the runs counted them; intervals are normal ones, from their standard errors.",
    )
    assert gains[name].interval.value == 0.25
    assert gains[name].interval.low == pytest.approx(0.25 - 1.96 * 0.1, abs=0.02)
    assert gains[other.task].reason == "the baseline is 0"


def test_runs_over_different_baselines_are_not_put_beside_each_other(runs: dict[str, Run]) -> None:
    def over(run: Run, name: str) -> Run:
        task = next(iter(run.tasks.values()))
        values = {**task.values, "relative_improvement": Reading(0.5, 0.1, True)}
        return replace(run, tasks={task.task: replace(task, values=values, baseline={"name": name})})

    mixed = build([over(runs["mira"], "a"), over(runs["sonata"], "b")], how=QUICK)
    assert mixed.baseline is None
    assert mixed.caveats == ("The runs were counted over different baselines (a, b); no improvement is shown.",)
    assert build([over(runs["mira"], "a"), over(runs["sonata"], "a")], how=QUICK).baseline == "a"


def test_differences_are_those_of_dsb2_compare(runs: dict[str, Run]) -> None:
    report = build([runs["mira"], runs["sonata"]], how=QUICK)
    expected = {row.task: row for row in compare(runs["sonata"], runs["mira"], draws=200).tasks}
    assert all(row.cells[0].difference is None for row in report.tasks)
    assert {row.name: row.cells[1].difference for row in report.tasks} == expected


def test_tasks_of_tasks_are_drawn_apart() -> None:
    how = Drawing()
    assert how.seed_of("a") != how.seed_of("b")
    assert how.seed_of("a") == Drawing().seed_of("a") != Drawing(seed=1).seed_of("a")


def test_rates_of_a_domain_are_plain_means_over_its_tasks(runs: dict[str, Run]) -> None:
    cell = _domain(build([runs["mira"]], how=QUICK), "sound_event").cells[0]
    own = [r for r in runs["mira"].tasks.values() if r.spec.domain == "sound_event"]
    rates = [r.values["na_rate"].value for r in own if "na_rate" in r.values]
    assert len(rates) > 1
    assert cell.rates["na_rate"] == pytest.approx(np.mean(rates))
    assert cell.tasks == len(own)


def test_a_domain_says_how_many_tasks_the_suite_has(runs: dict[str, Run]) -> None:
    domain = _domain(build([runs["mira"]], how=QUICK), "speech_recognition")
    assert (domain.expected, domain.cells[0].tasks, domain.title) == (30, 4, "Speech Recognition")


def test_a_task_that_one_run_lacks_has_no_cell_there(runs: dict[str, Run]) -> None:
    report = build([runs["evil"], runs["mira"]], how=QUICK)
    assert [row.cells[0] is None for row in report.tasks].count(True) == len(TASKS) - 4
    assert all(row.cells[1] is not None for row in report.tasks)


def test_runs_of_one_name_are_told_apart(runs: dict[str, Run]) -> None:
    report = build([runs["mira"], runs["mira"], runs["sonata"]], how=QUICK)
    assert [run.name for run in report.runs] == ["mira (1)", "mira (2)", "sonata"]


@pytest.mark.parametrize("count", [0, MOST_RUNS + 1])
def test_too_few_or_too_many_runs(count: int, runs: dict[str, Run]) -> None:
    with pytest.raises(ReportError, match=f"{count} runs; a report shows 1 to 6"):
        build([runs["mira"]] * count, how=QUICK)


def test_broken_rows_are_told_with_file_and_task(folder: Path, tmp_path: Path) -> None:
    place = write_run(tmp_path, "broken", right=0.5, tasks=[ASR])
    samples = next(place.glob("samples_*"))
    lines = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    lines[0]["wer"] = ["x"]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(ResultsError, match=rf"samples_{ASR}_.*\.jsonl: line 1 is no logged sample \(wer: .*row \('x',\)"):
        build([read_run(place)], read_baseline(str(folder / "cascade")), how=QUICK)


def test_the_command_repeats_the_run(runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs["mira"]
    config = {
        **run.config,
        "model_args": {"pretrained": "a model", "dtype": "float16"},
        "limit": 2.0,
        "batch_size": 4,
        "gen_kwargs": {"temperature": 0.5},
        "torch_seed": 7,
    }
    (command,) = build([replace(run, config=config)], how=QUICK).runs[0].commands
    words = shlex.split(command)
    found = dict(zip(words[1:-1:2], words[2:-1:2], strict=True))
    assert words[0] == "lm_eval"
    assert found == {
        "--tasks": "dsb2_all",
        "--model": "hf-audio",
        "--model_args": "pretrained=a model,dtype=float16",
        "--metadata": '{"data": "samples"}',
        "--limit": "2",
        "--batch_size": "4",
        "--gen_kwargs": "temperature=0.5",
        "--seed": "0,1234,7,1234",
        "--output_path": "results",
    }
    assert words[-1] == "--log_samples"
    harness = pytest.importorskip("lm_eval.config.evaluate_config")
    from lm_eval._cli import HarnessCLI

    monkeypatch.setattr(sys, "argv", words)
    assert harness.EvaluatorConfig.from_cli(HarnessCLI().parse_args()).log_samples  # refuses options that do not go together


def test_a_deaf_run_is_told_from_one_that_hears(runs: dict[str, Run]) -> None:
    run = runs["mira"]
    deaf = replace(run, config={**run.config, "dsb2_model": {"audio": "noise"}})
    assert [told.model for told in build([run, deaf], how=QUICK).runs] == [run.model, f"{run.model}, audio=noise"]


def test_the_command_says_where_tasks_of_others_are(runs: dict[str, Run]) -> None:
    run = runs["mira"]
    first, second, *_ = run.tasks
    tasks, configs = dict(run.tasks), dict(run.raw["configs"])
    for name, file in ((first, "/my tasks/a.yaml"), (second, "b.yaml")):
        tasks[name] = replace(tasks[name], spec=tasks[name].spec.model_copy(update={"suite": "mine"}))
        configs[name] = {**configs[name], "metadata": {**configs[name]["metadata"], "config_source": file}}
    told = build([replace(run, tasks=tasks, raw={**run.raw, "configs": configs})], how=QUICK).runs[0].commands[0]
    assert told.startswith("DSB2_TASKS_PATH='.:/my tasks' lm_eval --tasks ")


@pytest.mark.parametrize("elsewhere", [True, False], ids=["answers made elsewhere", "a run scored again"])
def test_numbers_of_a_scoring_are_repeated_by_that(elsewhere: bool, runs: dict[str, Run]) -> None:
    run = runs["mira"]
    raw = {
        **run.raw,
        "dsb2_score": {"dsb2_tasks": "9.9", "of": "a b.jsonl", "rule": "strict", "forced": True, "judge": {"model": "j"}},
    }
    config = {"model": "answers", "model_args": {"name": "mira"}} if elsewhere else run.config
    told = build([replace(run, raw=raw, config=config)], how=QUICK).runs[0]
    if elsewhere:
        assert told.commands == ("dsb2 score --answers 'a b.jsonl' --data samples --name mira --rule strict --force",)
    else:
        assert told.commands[0].startswith("lm_eval --tasks")
        assert told.commands[1:] == ("dsb2 score 'a b.jsonl' --rule strict --force",)
    assert told.versions["dsb2-tasks"] == "9.9"
    assert told.settings["dsb2_score.judge.model"] == "j"


def test_keys_and_tokens_do_not_get_into_a_report(runs: dict[str, Run]) -> None:
    config = {**runs["mira"].config, "model_args": {"model": "m", "api_key": "sk-secret", "max_new_tokens": 5}}
    run = build([replace(runs["mira"], config=config)], how=QUICK).runs[0]
    assert "sk-secret" not in str(run)
    assert run.settings["model_args.api_key"] == "***"
    assert run.settings["model_args.max_new_tokens"] == "5"
