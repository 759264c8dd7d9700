"""Tables for other programs and for papers."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from _report_runs import TASKS

from dsb2_tasks.baseline import read_baseline
from dsb2_tasks.report import Drawing, Report, as_csv, as_json, build, draw, latex, markdown
from dsb2_tasks.report._tables import _plain, _tex
from dsb2_tasks.report._text import bounds, number, percent, signed, tick
from dsb2_tasks.results import Run

QUICK = Drawing(draws=100)


@pytest.fixture(scope="module")
def report(folder: Path, runs: dict[str, Run]) -> Report:
    return build([runs["evil"], runs["sonata"]], read_baseline(str(folder / "cascade")), how=QUICK)


def test_csv_has_a_line_for_every_run_and_task_in_full_precision(report: Report, runs: dict[str, Run]) -> None:
    lines = list(csv.DictReader(io.StringIO(as_csv(report))))
    assert len(lines) == 4 + len(TASKS)
    for line in lines:
        result = runs["sonata" if line["run"] == "sonata" else "evil"].tasks[line["task"]]
        expected = result.values[result.spec.metric].value
        assert line["value"] == ("" if expected != expected else str(expected))
        assert line["metric_assumed"] == str(result.spec.metric_assumed)
    assert {line["left_out"] for line in lines if line["run"] != "sonata"} != {""}
    assert sum(line["difference"] != "" for line in lines) > 0


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\u202e=x"])
def test_no_cell_of_a_csv_is_a_formula(text: str) -> None:
    assert str(_plain(text))[0] in "'⟨"
    assert _plain(-1.5) == -1.5


def test_json_is_strict_and_whole(report: Report) -> None:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    whole = json.loads(as_json(report), parse_constant=refuse)
    assert whole["sample_data"] is True
    assert whole["baseline"] == "cascade"
    assert [run["name"] for run in whole["runs"]][1] == "sonata"
    assert len(whole["tasks"]) == 4 + len(TASKS)
    means = [d["improvement"]["mean"] for d in whole["domains"] if d["run"] == "sonata" and d["improvement"]["kept"]]
    assert means == [d.cells[1].score.mean for d in report.domains if d.cells[1].score.kept]


def test_markdown_tables_keep_their_columns(report: Report) -> None:
    tables = [block.splitlines() for block in markdown(report).split("\n\n") if block.startswith("|")]
    assert len(tables) == 2
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert len(tables[1]) == 2 + len(TASKS)
    assert "<b>" not in markdown(report).replace("\\<b\\>", "")


def test_domains_of_other_suites_are_told_apart(report: Report) -> None:
    first = report.domains[0]
    text = markdown(replace(report, domains=(first, replace(first, suite="community"))))
    assert re.findall(rf"^\| ({first.title}[^|]*?) \|", text, re.MULTILINE) == [first.title, f"{first.title} (community)"]


def test_latex_has_no_sign_of_its_own_from_a_run(report: Report) -> None:
    text = latex(report)
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") == 2
    assert r"\textbackslash{}" in text
    assert "Sample data: these are not results." in text
    for line in text.splitlines():
        if line.startswith("%"):
            continue
        assert len(re.findall(r"(?<!\\)[{]", line)) == len(re.findall(r"(?<!\\)[}]", line))
        assert not re.search(r"(?<!\\)[%#_]", line)
    body = [line for line in text.splitlines() if line.endswith(r"\\") and " & " in line]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body if "multicolumn" not in line} == {8, 7}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50 %", r"50 \%"),
        ("a_b & c", r"a\_b \& c"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("$^~#", r"\$\textasciicircum{}\textasciitilde{}\#"),
        ("[2pt]", "{[}2pt]"),
        ("−1 ± 2", r"$-$1 $\pm$ 2"),
    ],
)
def test_tex(text: str, escaped: str) -> None:
    assert _tex(text) == escaped


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (number(0.12345), "0.123"),
        (number(-12.34), "−12.3"),
        (number(-0.0001), "0.000"),
        (number(123456.0), "1.23e+05"),
        (number(float("nan")), "–"),
        (number(float("-inf")), "−∞"),
        (number(None), "–"),
        (percent(0.125), "12 %"),
        (signed(0.1234), "+12.3 %"),
        (signed(-0.00001), "0.0 %"),
        (signed(-12.0), "−1200 %"),
        (signed(0.25, share=False), "+0.250"),
        (bounds(-0.1, 0.2), "[−10.0, +20.0]"),
        (bounds(float("nan"), 1.0), ""),
        (tick(0.5), "+50 %"),
        (tick(0.025), "+2.5 %"),
    ],
)
def test_numbers_for_people(made: str, shown: str) -> None:
    assert made == shown


@pytest.mark.parametrize("plot", ["radar", "bars"])
@pytest.mark.parametrize(("form", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_plots_are_files_of_their_kind_and_the_same_every_time(plot: str, form: str, head: bytes, report: Report) -> None:
    pytest.importorskip("matplotlib")
    made = draw(report, plot, form)  # type: ignore[arg-type]
    assert made.startswith(head)
    assert made == draw(report, plot, form)  # type: ignore[arg-type]


def test_a_plot_says_what_is_missing(runs: dict[str, Run], report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    from dsb2_tasks.report import ReportError

    with pytest.raises(ReportError, match="name a --baseline"):
        draw(build([runs["mira"]], how=QUICK), "bars", "png")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ReportError, match=r"pip install 'dsb2-tasks\[report\]'"):
        draw(report, "bars", "png")
