"""The page: complete, self-contained, and safe whatever the results hold."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from _report_runs import ASR, EVIL, TASKS, write_run

from dsb2_tasks.baseline import read_baseline
from dsb2_tasks.report import Drawing, build, choose, encode, render
from dsb2_tasks.results import Run, read_run

QUICK = Drawing(draws=100)
_VOID = {"meta", "input", "br", "wbr", "img", "hr"}


class _Page(HTMLParser):
    """Elements with attributes and the text inside of them; fails on a tag that is not closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.glue = False
        self.text: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {k: v or "" for k, v in attrs}))
        self.glue = tag == "wbr"
        if tag not in _VOID:
            self.open.append(tag)
            if tag in self.raw:
                self.raw[tag].append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {k: v or "" for k, v in attrs}))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]][-1] += data
        elif self.glue:
            self.text[-1] += data
        else:
            self.text.append(data)
        self.glue = False

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.text))


@pytest.fixture(scope="module")
def source(folder: Path, runs: dict[str, Run]) -> str:
    report = build([runs["evil"], runs["sonata"]], read_baseline(str(folder / "cascade")), how=QUICK)
    return render(report, choose(report, 10, audio_bytes=400_000))


@pytest.fixture(scope="module")
def page(source: str) -> _Page:
    return _Page(source)


def test_nothing_of_a_run_becomes_markup(page: _Page) -> None:
    assert len(page.raw["script"]) == 1
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert not {"img", "h1"} & {tag for tag, a in page.elements if tag != "h1" or a.get("id") != "overview"}
    for text in (
        EVIL[0],
        EVIL[1],
        "</textarea></pre></style></script><h1>big</h1>",
        "{{ 7 * 7 }}",
        "<b>evil</b> {{ 7*7 }}|&%$#_^~\\",
    ):
        assert text in page.words


def test_nothing_of_a_run_gets_into_script_or_style(page: _Page) -> None:
    for part in (*page.raw["script"], *page.raw["style"]):
        assert "evil" not in part
        assert "sonata" not in part


def test_links_lead_inside_the_page_or_to_data_sets(page: _Page) -> None:
    targets = {a["id"] for _, a in page.elements if "id" in a}
    for tag, attributes in page.elements:
        for name in ("href", "src", "action", "poster", "srcset", "data"):
            value = attributes.get(name)
            if value is None:
                continue
            if value.startswith("#"):
                assert value[1:] in targets
            else:
                assert value.startswith("https://huggingface.co/datasets/") if tag == "a" else value.startswith("data:audio/")


def test_the_policy_allows_this_script_and_style_and_nothing_else(page: _Page) -> None:
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(page.raw["script"][0])
    assert rules["style-src"] == digest(page.raw["style"][0])
    assert rules["media-src"] == rules["img-src"] == "data:"
    assert not any("style" in a for _, a in page.elements), "a style attribute would be refused"


def test_invisible_characters_are_shown_and_turns_of_direction_have_no_effect(source: str, page: _Page) -> None:
    assert "over ⟨U+202E⟩right to left⟨U+202C⟩ and ⟨U+0000⟩ nul ⟨U+D800⟩ half ⟨U+2066⟩isolate" in page.words
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\ud800-\udfff]", source)
    assert source.count("<bdi>") == source.count("</bdi>") > 10


def test_a_long_answer_is_cut_and_says_by_how_much(source: str, page: _Page) -> None:
    assert "998,000 more characters" in page.words
    assert len(source) < 3_000_000


def test_it_says_that_sample_data_are_no_results(page: _Page) -> None:
    assert "Sample data: these are not results." in page.words


def test_what_was_left_out_stands_there_with_its_reason(folder: Path, runs: dict[str, Run]) -> None:
    report = build([runs["evil"]], read_baseline(str(folder / "cascade")), how=QUICK)
    left = [row for row in report.tasks if row.cells[0].gain.reason]
    assert left
    words = _Page(render(report)).words
    for row in left:
        assert f"{row.title} {row.cells[0].gain.reason}" in words


def test_assumed_metrics_and_confidence_are_told(page: _Page, runs: dict[str, Run]) -> None:
    assumed = sum(task.spec.metric_assumed for task in runs["sonata"].tasks.values())
    assert assumed > 0
    assert sum(a.get("class") == "tag" and "authors' metric" in a.get("title", "") for _, a in page.elements) == assumed
    for level in {task.spec.confidence for task in runs["sonata"].tasks.values()}:
        assert f"confidence {level}" in page.words


def test_every_task_has_a_row_and_an_anchor_that_it_links_to(page: _Page) -> None:
    anchors = {a["id"] for tag, a in page.elements if tag == "details" and "id" in a}
    links = {a["href"][1:] for tag, a in page.elements if tag == "a" and a.get("class") == "name"}
    assert anchors == links == {f"t-{task}" for task in TASKS}


def test_a_page_without_baseline_has_no_improvement(runs: dict[str, Run]) -> None:
    words = _Page(render(build([runs["mira"]], how=QUICK))).words
    assert "No baseline" in words
    assert "Improvement" not in words
    assert "Clipped mean" not in words


def test_the_same_runs_give_the_same_page(folder: Path, runs: dict[str, Run]) -> None:
    def make() -> str:
        report = build([read_run(runs["mira"].path)], read_baseline(str(folder / "cascade")), how=QUICK)
        return render(report, choose(report, 2, audio_bytes=100_000))

    assert make() == make()


def test_a_lone_surrogate_in_any_place_can_be_written(runs: dict[str, Run]) -> None:
    from dataclasses import replace

    run = replace(runs["mira"], name="half \ud800", model="\udfff")
    assert b"half \xe2\x9f\xa8U+D800\xe2\x9f\xa9" in encode(render(build([run], how=QUICK, title="\ud83d")))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain ü 漢 🎵 عربى", "plain ü 漢 🎵 عربى"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("\r\x1b[31m", "⟨U+000D⟩⟨U+001B⟩[31m"),
        ("\u200b\u200e\u061c\ufeff\u2028", "⟨U+200B⟩⟨U+200E⟩⟨U+061C⟩⟨U+FEFF⟩⟨U+2028⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
    ],
    ids=["text of any script", "line ends", "terminal codes", "marks", "tags"],
)
def test_visible(value: str, shown: str) -> None:
    from dsb2_tasks.report._text import visible

    assert visible(value) == shown


@pytest.mark.slow
def test_three_runs_of_all_tasks_take_seconds_and_few_megabytes(tmp_path: Path) -> None:
    for name, right in (("base", 0.4), ("a", 0.5), ("b", 0.6), ("c", 0.7)):
        write_run(tmp_path, name, right=right, copies=5)
    start = time.process_time()
    report = build([read_run(tmp_path / name) for name in "abc"], read_baseline(str(tmp_path / "base")))
    source = encode(render(report))
    assert time.process_time() - start < 20  # on a busy machine: CPU time, not wall time
    assert len(source) < 8_000_000
    assert len(report.tasks) == 180
    assert f't-{ASR}"' in source.decode()
