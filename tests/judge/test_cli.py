"""``dsb2 judge``: the prompt as it is sent, and a reply as it is read; nobody is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from _judging import answer_in
from click.testing import CliRunner, Result

from dsb2_tasks.cli._judge import judge
from dsb2_tasks.judge import CONTRACTS

NUMBER = "dsb2_l2_english_accuracy_scoring"


def run(*args: str) -> Result:
    return CliRunner().invoke(judge, args)


def shown(*args: str) -> Any:
    result = run("show", *args, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_contracts_are_listed() -> None:
    found = json.loads(run("contracts", "--json").output)
    assert [row["name"] for row in found] == list(CONTRACTS)
    assert [row["asked_for"] for row in found] == ["default", "default", "authors", "authors"]
    assert found[2]["kinds"] == ["choice", "labels", "text"]
    table = run("contracts").output
    for row in found:
        assert row["name"] in table


def test_the_prompt_is_shown_as_it_is_sent(tasks: dict[str, str]) -> None:
    found = shown(tasks["choice"], "--answer", 'none "of\nthese"')
    assert found["contract"] == "choice"
    assert answer_in(found["prompt"]) == 'none "of\nthese"'
    assert found["reply"] is None
    assert found["prompt"] in run("show", tasks["choice"], "--answer", 'none "of\nthese"').output


@pytest.mark.parametrize(
    ("kind", "contract", "verdict", "status", "rows"),
    [
        ("choice", "default", "It fits.\nResult: yes", "accepted", {"judge_accuracy": [1.0], "judge_coverage": [1.0]}),
        ("choice", "default", "Score: 11/10", "unusable", {"judge_accuracy": None, "judge_coverage": [0.0]}),
        ("choice", "authors", "Score: 11/10", "rejected", {"judge_accuracy": [0.0], "judge_coverage": [1.0]}),
        ("number", "default", "Result: n/a", "na", {"judge_na_rate": [1.0, "na:judge"], "judge_coverage": [1.0]}),
        ("number", "authors", "5", "extracted", {"judge_na_rate": [0.0, "ok"], "judge_coverage": [1.0]}),
    ],
)
def test_a_reply_is_read_and_counted(
    tasks: dict[str, str], kind: str, contract: str, verdict: str, status: str, rows: dict[str, Any]
) -> None:
    found = shown(tasks[kind], "--contract", contract, "--verdict", verdict)
    assert found["reply"]["status"] == status
    assert {name: found["reply"]["statistics"][name] for name in rows} == rows
    told = run("show", tasks[kind], "--contract", contract, "--verdict", verdict).output
    assert f"reply       {status}" in told
    if status == "extracted":
        assert "reply       extracted '5', read as 5.0" in told


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["{transcript}"], "kind 'transcript' is not judged"),
        (["{choice}", "--doc", "999"], "documents 0 to"),
        (["no_such_task"], "unknown task 'no_such_task'"),
        (["{choice}", "--answer", "\u2060[[dsb2:audio_error]] gone"], "record of a broken clip"),
    ],
    ids=["kind", "doc", "task", "failure"],
)
def test_wrong_use_is_told(tasks: dict[str, str], args: list[str], message: str) -> None:
    result = run("show", *(arg.format(**tasks) for arg in args))
    assert result.exit_code != 0
    assert message in f"{result.output} {result.exception}"


@pytest.fixture(scope="module")
def tasks() -> dict[str, str]:
    """A task of some kinds by name."""
    from dsb2_tasks.catalog import read_catalog

    found = {entry.spec.kind: name for name, entry in read_catalog().tasks.items() if entry.spec.kind != "number"}
    return {**found, "number": NUMBER}
