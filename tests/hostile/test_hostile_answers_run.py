"""One run of a model that answers with nothing but hostile texts, and all that is made of it afterwards."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
from html.parser import HTMLParser
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from _hostile_answers import SHORT, one_of
from click.testing import CliRunner

from dsb2_tasks.cli import main
from dsb2_tasks.hooks import KINDS
from dsb2_tasks.models._responses import Answer
from dsb2_tasks.results import read_run

sys.path.append(str(Path(__file__).resolve().parent.parent / "end_to_end"))  # runs in this process, as those tests make them

#: What a stranger may call a model: a formula, an escape, an override, markup, TeX and the signs of tables.
EVIL = "=cmd|' /C calc'!A0;=1+1\x1b[31m\u202e<script>alert(1)</script>\\input{/etc/passwd}&%$#^^5c_|`](javascript:1)"
#: The answers as this project's models hand them on.
DELIVERED = [Answer(text).delivered for text in SHORT.values()]
_FORMULA = re.compile(r"[=+@\-＝＋－＠]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over one task of every kind, with its samples."""
    from _oracle import Oracle, evaluate

    class Hostile(Oracle):
        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            said = cycle(DELIVERED)
            return [next(said) for _ in requests]

    folder = tmp_path_factory.mktemp("hostile") / "run"
    evaluate(Hostile(0, 0), [one_of(kind)[0] for kind in KINDS], folder)
    return folder


@pytest.fixture(scope="module")
def evil(folder: Path) -> Path:
    """Its results file, whose model has a name of the same kind."""
    file = read_run(folder).path
    whole = json.loads(file.read_text())
    whole |= {"model_name": EVIL, "model_source": EVIL}
    whole["config"] |= {"model": EVIL, "model_args": {"pretrained": EVIL}}
    file.write_text(json.dumps(whole))
    return file


def _dsb2(*words: str | Path) -> str:
    """What a command printed; it takes seconds, and sends nothing to the terminal but text."""
    start = time.process_time()
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    assert time.process_time() - start < 30
    assert not [sign for sign in done.output if not sign.isprintable() and sign != "\n"]
    return done.output


def test_every_answer_is_kept_and_none_counts_as_a_failure_of_the_tool(evil: Path) -> None:
    run = read_run(evil)
    assert {result.spec.kind for result in run.tasks.values()} == set(KINDS)
    for result in run.tasks.values():
        samples = result.samples()
        assert len(samples) == result.documents == result.total
        assert {sample.answer for sample in samples} <= set(DELIVERED)
        assert not {sample.status for sample in samples} & {"audio_error", "model_error"}


def test_it_is_scored_again_to_the_same_numbers(evil: Path, tmp_path: Path) -> None:
    _dsb2("score", evil, "-o", tmp_path / "again")
    before, after = read_run(evil), read_run(tmp_path / "again")
    for name, result in before.tasks.items():
        assert [sample.answer for sample in after.tasks[name].samples()] == [sample.answer for sample in result.samples()]
        assert {k: v.value for k, v in after.tasks[name].values.items()} == pytest.approx(
            {k: v.value for k, v in result.values.items()}, nan_ok=True
        )


def test_it_is_compared_and_made_a_baseline(evil: Path, tmp_path: Path) -> None:
    assert "accuracy" in _dsb2("compare", evil, evil, "--draws", "100")
    _dsb2("baseline", "make", evil, "-o", tmp_path / "b.json")
    assert "tasks compared" in _dsb2("baseline", "check", evil, tmp_path / "b.json")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _report(evil: Path, to: Path, *more: str | Path) -> str:
    """A report of two runs, whose names stand in tables; a submission is of one."""
    runs = [evil] if "submission" in more else [evil, evil]
    _dsb2("report", *runs, "-o", to, "--draws", "100", *more)
    return to.read_text(encoding="utf-8")


def test_the_page_has_no_markup_of_an_answer(evil: Path, tmp_path: Path) -> None:
    text = _report(evil, tmp_path / "r.html", "--samples", "50", "--audio-mb", "0.1")
    page = _Page()
    page.feed(text)
    assert [tag for tag, _ in page.tags].count("script") == 1
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert not (attributes.get("href") or "").lower().startswith(("javascript:", "data:"))
        assert (attributes.get("src") or "data:").startswith("data:")
    assert "alert(1)&lt;/script&gt;" in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_no_cell_of_the_csv_is_a_formula_wherever_cells_end(evil: Path, tmp_path: Path) -> None:
    text = _report(evil, tmp_path / "r.csv")
    for delimiter in ",;\t":
        for line in csv.reader(io.StringIO(text), delimiter=delimiter):
            for cell in map(str.strip, line):
                assert not _FORMULA.match(cell) or re.fullmatch(r"-?[\d.e-]+", cell.split(",")[0]), cell
    assert {row["model"] for row in csv.DictReader(io.StringIO(text))} and "\x1b" not in text


def test_latex_has_no_command_of_an_answer(evil: Path, tmp_path: Path) -> None:
    text = _report(evil, tmp_path / "r.tex")
    assert r"\textbackslash{}input\{/etc/passwd\}" in text
    assert not re.search(r"\\(?:input|write|include|def|catcode|csname)\b", text) and "^^" not in text
    for line in text.splitlines():
        assert line.startswith("%") or not re.search(r"(?<!\\)[%#]", line)


def test_markdown_has_no_markup_of_an_answer(evil: Path, tmp_path: Path) -> None:
    text = _report(evil, tmp_path / "r.md")
    assert not re.search(r"(?<!\\)[<`]", text) and not re.search(r"(?<!\\)\]\(", text)
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert tables and all(len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1 for table in tables)


def test_json_and_the_submission_are_strict(evil: Path, tmp_path: Path) -> None:
    for name, more in (("r.json", ()), ("s.json", ("--format", "submission"))):
        text = _report(evil, tmp_path / name, *more)
        json.loads(text, parse_constant=lambda token: pytest.fail(token))
    assert set(read_run(tmp_path / "s.json").tasks) == set(read_run(evil).tasks)


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_plots_take_no_text_for_a_formula_or_a_command(evil: Path, tmp_path: Path, form: str) -> None:
    tasks = [(name, task.spec.metric) for name, task in read_run(evil).tasks.items() if task.spec.metric == "accuracy"]
    table = [{"task": name, "metric": metric, "value": 0.5, "version": "1-samples"} for name, metric in tasks]
    baseline = tmp_path / "$x_{1}$<b>=1.json"
    baseline.write_text(json.dumps(table))
    _dsb2("report", evil, "-o", tmp_path / f"r.{form}", "--draws", "100", "--baseline", baseline)
    drawn = (tmp_path / f"r.{form}").read_bytes()
    assert len(drawn) > 1000 and b"<script" not in drawn and b"<b>" not in drawn
