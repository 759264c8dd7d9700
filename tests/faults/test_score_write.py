"""``dsb2 score`` that is stopped while it writes: results with the samples of others never stand there."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest
from _fault_runs import Child, steps
from _server import FakeServer, chat_reply
from click.testing import CliRunner

from dsb2_tasks.cli import main
from dsb2_tasks.rescore import AnswersError, Rules, from_answers, score, write_results
from dsb2_tasks.results import ResultsError, read_run, samples_file

QBE, ANGLE = "dsb2_superb_qbe_quesst14", "dsb2_sound_position_prediction"
OLD = {QBE: ["yes", "yes", "yes", "yes"], ANGLE: ["10", "20", "30", "40"]}
NEW = {QBE: ["no", "no", "no", "no"], ANGLE: ["50", "60", "70", "80"]}


def scores(folder: Path, answers: dict[str, list[str]]) -> Any:
    lines = [{"task": task, "doc_id": i, "answer": said} for task, each in answers.items() for i, said in enumerate(each)]
    source = folder / "answers.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return score(from_answers([source], "samples"), Rules())


def write(made: Any, to: Path) -> Path:
    model = {"model": "answers", "model_args": {"name": "answers"}}
    return write_results(made, to, run=None, origin="test", model=model, notes={})


def state(file: Path) -> dict[str, list[str]] | None:
    """Answers that a results file gives, after its numbers were found to be theirs; None where it is not there."""
    try:
        run = read_run(file)
    except ResultsError as error:
        assert str(error) == f"{file}: there is no such file or folder"
        return None
    made = {task: [sample.answer for sample in result.samples()] for task, result in run.tasks.items()}
    assert {task: result.values for task, result in run.tasks.items()} == VALUES[json.dumps(made)]
    return made


VALUES: dict[str, Any] = {}


@pytest.fixture(scope="module", autouse=True)
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The two scorings, by name; what their results say is noted in :data:`VALUES`."""
    made = {}
    for name, answers in {"old": OLD, "new": NEW}.items():
        folder = tmp_path_factory.mktemp(name)
        made[name] = scores(folder, answers)
        tasks = read_run(write(made[name], folder / "scored.json")).tasks
        VALUES[json.dumps(answers)] = {task: result.values for task, result in tasks.items()}
    return made


@pytest.mark.parametrize("there", [True, False], ids=["over older results", "where nothing was"])
def test_killed_at_every_step(tmp_path: Path, both: dict[str, Any], there: bool) -> None:
    def killed_at(step: int | None) -> tuple[Path, list[str]]:
        folder = tmp_path / f"step{step}"
        folder.mkdir()
        if there:
            write(both["old"], folder / "scored.json")
        return folder, steps(lambda: write(both["new"], folder / "scored.json"), step, [folder], tmp_path)

    folder, all_steps = killed_at(None)
    assert state(folder / "scored.json") == NEW
    assert sum(step.startswith("os.rename") for step in all_steps) == 3
    seen = []
    for step in range(len(all_steps)):
        folder, _ = killed_at(step)
        seen.append(state(folder / "scored.json"))
        write(both["new"], folder / "scored.json")
        assert state(folder / "scored.json") == NEW
        assert {path.name for path in folder.iterdir()} == {
            "scored.json",
            *(samples_file(folder / "scored.json", task).name for task in NEW),
        }, "nothing is left of the process that was killed"
    expected = [OLD if there else None, None, NEW]
    assert [value for i, value in enumerate(seen) if not i or value != seen[i - 1]] == [
        value for i, value in enumerate(expected) if not i or value != expected[i - 1]
    ], "first the old ones, then none, then the new ones"


def test_two_at_once_leave_the_results_of_one(tmp_path: Path, both: dict[str, Any]) -> None:
    def many(name: str) -> None:
        for _ in range(20):
            write(both[name], tmp_path / "scored.json")

    children = [Child(lambda name=name: many(name), tmp_path / f"{name}.txt") for name in both]  # type: ignore[misc]
    assert [child.wait() for child in children] == [0, 0], [child.said() for child in children]
    assert state(tmp_path / "scored.json") in (OLD, NEW)
    assert not list(tmp_path.glob(".*"))


def test_without_locks_drafts_of_others_are_left_alone(
    tmp_path: Path, both: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    other = tmp_path / ".dsb2-draft-1-0"
    other.write_text("of a process on another machine, perhaps")
    write(both["new"], tmp_path / "scored.json")
    assert state(tmp_path / "scored.json") == NEW and other.exists()


@pytest.mark.parametrize("number", range(3))
def test_a_file_that_cannot_take_its_name(tmp_path: Path, both: dict[str, Any], number: int) -> None:
    """Whichever of the three it is: a folder is in the way of it."""
    file = tmp_path / "scored.json"
    targets = [samples_file(file, QBE), samples_file(file, ANGLE), file]
    (targets[number] / "full").mkdir(parents=True)
    with pytest.raises(AnswersError, match=r"scored\.json: cannot be written \(Is a directory\); make room .* no model is asked"):
        write(both["new"], file)
    assert not list(tmp_path.glob(".*")) and not file.is_file(), "no results without their samples"
    (targets[number] / "full").rmdir()
    targets[number].rmdir()
    write(both["new"], file)
    assert state(file) == NEW


def test_a_judge_is_not_paid_for_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    lines = [{"task": QBE, "doc_id": i, "answer": "yes, I hear it"} for i in range(4)]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "file").write_text("")
    common = ["score", "--answers", str(answers), "--data", "samples"]
    with FakeServer(lambda request: chat_reply("Reason.\nresult: yes")) as server:
        judge = ["--judge", f"openai:m@{server.url}"]
        refused = CliRunner().invoke(main, [*common, *judge, "-o", str(tmp_path / "file" / "scored.json")])
        assert refused.exit_code == 1 and not server.requests
        assert f"scored.json: cannot be written ({tmp_path / 'file'} is a file); name another file or folder with -o" in (
            refused.stderr
        )
        done = CliRunner().invoke(main, [*common, *judge, "-o", str(tmp_path / "scored.json")])
        assert done.exit_code == 0 and server.requests, done.output
