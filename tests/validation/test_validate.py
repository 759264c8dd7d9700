"""Broken task files of strangers: each fault is told with file, line, cause and fix."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from _pets import GOOD, write_clips
from click.testing import CliRunner, Result

from dsb2_tasks import catalog, validation
from dsb2_tasks.cli._validate import validate
from dsb2_tasks.validation import Outcome, _run

Broken = Callable[..., Path]


def check(*paths: Path, **settings: object) -> list[Outcome]:
    return list(validation.validate(paths, **settings))  # type: ignore[arg-type]


def run(*words: str) -> Result:
    return CliRunner().invoke(validate, list(words))


def told(path: Path, **settings: object) -> list[str]:
    (outcome,) = check(path, **settings)
    return [str(finding) for finding in outcome.findings]


#: What is broken -> (changes, line of the fault, cause and fix).
FAULTS: dict[str, tuple[list[tuple[str, str]], int, str]] = {
    "tab": ([("  kind", "\tkind")], 5, r"not valid YAML in line 5: found character.*; indent with blanks, not with tabs"),
    "indentation": (
        [("  metric", "   metric")],
        6,
        r"mapping values are not allowed.*; keys of one block start in the same column",
    ),
    "dedent": ([("  options", " options")], 10, r"did not find expected key; keys of one block start in the same column"),
    "unknown key": ([("metric:", "metrc:")], 6, r"dsb2\.metrc: unknown key; did you mean 'metric'\?"),
    "unknown metric": ([("accuracy", "acuracy")], 6, r"dsb2\.metric: unknown metric 'acuracy'; did you mean 'accuracy'\?"),
    "metric of another kind": ([("accuracy", "wer")], 6, r"kind 'choice' cannot count 'wer'; kind 'choice' counts accuracy"),
    "unknown domain": (
        [("sound_event", "sound_events")],
        8,
        r"'sound_events' is none of the 17 domains; did you mean 'sound_event'",
    ),
    "missing column": (
        [("  options", "  label: animal\n  options")],
        10,
        r"no column 'animal'; its text columns are label .*; name a",
    ),
    "missing audio column": (
        [("  options", "  audio: [clip]\n  options")],
        10,
        r"no audio column 'clip'; its audio columns are audio",
    ),
    "label of another shape": (
        [("[dog, cat]", "[dog, cow]")],
        10,
        r"2 of 4 labels .*row 1: expected one of .* found 'cat'.*; correct",
    ),
    "missing template": (
        [("task:", "include: _mine.yaml\ntask:")],
        1,
        r"'_mine.yaml' does not exist; leave it out: the template",
    ),
    "no such function": (
        [("metadata", "process_results: !function dsb2_tasks.hooks.choise\nmetadata")],
        3,
        r"no function 'choise' in dsb2_tasks\.hooks.*; did you mean 'dsb2_tasks\.hooks\.choice'\?",
    ),
    "no such module": (
        [("metadata", "process_results: !function my_hooks.score\nmetadata")],
        3,
        r"there is no module 'my_hooks', installed or beside the task file; put my_hooks\.py beside",
    ),
    "function of another kind": (
        [("metadata", "process_results: !function dsb2_tasks.hooks.number\nmetadata")],
        3,
        r"reads answers of kind 'number', and dsb2\.kind is 'choice'; include the template _choice\.yaml",
    ),
    "unknown kind": ([("choice", "choise")], 5, r"dsb2\.kind: .*'choise'\); did you mean 'choice'\?"),
    "unquoted option": ([("[dog, cat]", "[dog, no]")], 10, r"option False is a bool, not text: put it in quotes"),
    "modality of another domain": (
        [("modality: audio", "modality: music")],
        8,
        r"domain 'sound_event' belongs to modality 'audio'",
    ),
    "missing key": ([("  modality: audio\n", "")], 4, r"dsb2\.modality: key is missing; add, for example, 'modality: speech"),
    "no class": ([("class: !function dsb2_tasks.task.DSB2Task\n", "")], 1, r"'class' is missing.*; add 'class: !function dsb2"),
    "class is a text": ([("!function ", "")], 2, r"is a text and no function; write 'class: !function"),
    "another class": ([("task.DSB2Task", "task.Task")], 2, r"is not dsb2_tasks\.task\.DSB2Task.*; write"),
    "key outside of the block": ([("metadata", "prompt: Hear.\nmetadata")], 3, r"unknown key 'prompt'; indent it below 'dsb2:'"),
    "unknown lm-eval key": ([("metadata", "repeat: 2\nmetadata")], 3, r"unknown key 'repeat'; did you mean 'repeats'\?"),
    "key that is not read": (
        [("metadata", "dataset_path: x\nmetadata")],
        3,
        r"dataset_path is not read.*; leave it out and use dsb2\.data",
    ),
    "name for no command line": (
        [("my_pets", "my pets,all")],
        1,
        r"'my pets,all' cannot be named on a command line; use letters",
    ),
    "no options": ([("  options: [dog, cat]\n", "")], 4, r"kind 'choice' needs the options.*or write 'options: labels'"),
    "folder without dot": ([("./clips", "clips")], 11, r"neither a hub name as 'org/name' nor a folder.*; write './clips'"),
    "folder that is not there": ([("./clips", "./clisp")], 11, r"folder .*clisp does not exist"),
    "official suite": (
        [("dsb2:\n", "dsb2:\n  suite: dsb2-phase2\n")],
        5,
        r"'dsb2-phase2' is an official suite; give yours another",
    ),
    "official tag": (
        [("metadata", "tag: [dsb2_choice]\nmetadata")],
        3,
        r"tag 'dsb2_choice' is one of the suite.*; use a tag of your own",
    ),
    "key twice": (
        [("  kind: choice", "  kind: choice\n  kind: choice")],
        6,
        r"'kind' stands twice.*first in line 5.*; leave one",
    ),
    "wording of two options": (
        [("  data", "  aliases: {dog: [Cat]}\n  data")],
        11,
        r"wordings of more than one option.*'cat'; leave one",
    ),
    "normaliser": (
        [("  data", "  normalizer: englsh\n  data")],
        11,
        r"dsb2\.normalizer: Input should be 'none', .*'norm_zh' \(value: 'englsh'\)",
    ),
    "language": ([("  data", "  language: english\n  data")], 11, r"'english' is no ISO 639-1 code; write two letters, as 'en'"),
    "label shown": ([("  data", "  context: [label]\n  data")], 4, r"\['label'\] is shown to the model too; leave it out"),
    "empty prompt": ([("Which animal is heard, a dog or a cat?", "''")], 9, r"4 of 4 prompts are empty.*; give dsb2\.prompt"),
    "no version": ([("metadata: {version: 1}\n", "")], 1, r"warning: no metadata\.version.*; add 'metadata: \{version: 1\}'"),
    "token limit": (
        [("metadata", "generation_kwargs: {max_gen_toks: many}\nmetadata")],
        3,
        r"max_gen_toks 'many' is no whole number",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_names_file_line_cause_and_fix(name: str, broken: Broken) -> None:
    changes, line, said = FAULTS[name]
    path = broken(*changes)
    lines = told(path)
    assert any(text.startswith(f"{path}:{line}: ") and re.search(said, text) for text in lines), lines
    assert len(lines) == 1, "one cause, one fault"


def test_the_good_file_passes(folder: Path) -> None:
    (outcome,) = check(folder / "my_pets.yaml")
    assert outcome.findings == []
    assert (outcome.task, outcome.rows, outcome.scores) == ("my_pets", 4, dict.fromkeys(outcome.scores, 1.0))
    assert outcome.prompt == "Which animal is heard, a dog or a cat?"


def test_a_name_is_taken_once(folder: Path) -> None:
    second = folder / "other.yaml"
    shutil.copy(folder / "my_pets.yaml", second)
    one, two = check(folder)
    assert one.findings == []
    (fault,) = map(str, two.findings)
    assert fault == (f"{second}:1: fault: task name 'my_pets' is taken by {folder / 'my_pets.yaml'}; give this one another name")


@pytest.mark.parametrize("name", ["dsb2_superb_asr_librispeech", "dsb2_speech", "dsb2_choice"])
def test_names_of_the_suite_are_taken(name: str, broken: Broken) -> None:
    (fault,) = told(broken(("my_pets", name)))
    assert ":1: fault: " in fault and name in fault and "another name" in fault


def test_all_faults_of_a_file_are_told_at_once(broken: Broken) -> None:
    path = broken(("metric: accuracy", "metrc: accuracy"), ("sound_event", "sound_events"), ("metadata", "repeat: 2\nmetadata"))
    path = broken(("kind: choice", "kind: choice\n  metric: wer"))
    lines = sorted(int(text.removeprefix(f"{path}:").split(":")[0]) for text in told(path))
    assert lines == [3, 7, 8], "an unknown key hides no wrong metric and no wrong top-level key"


def test_a_new_domain_is_only_a_warning(broken: Broken) -> None:
    path = broken(("sound_event", "bird_watching"))
    (warning,) = told(path)
    assert ":8: warning: " in warning and "a table of its own" in warning and "spatial_audio" in warning
    assert run(str(path)).exit_code == 0


def test_a_fault_in_a_template_names_the_template(folder: Path, broken: Broken) -> None:
    (folder / "_pets.yaml").write_text("# What all share\ndsb2_template:\n  metrc: accuracy\n", encoding="utf-8")
    path = broken(("task:", "include: _pets.yaml\ntask:"))
    assert any(text.startswith(f"{folder / '_pets.yaml'}:3: fault: dsb2.metrc: unknown key") for text in told(path))


@pytest.mark.parametrize("kind", ["choice", "transcript"])
def test_the_packages_templates_may_be_included(kind: str, broken: Broken) -> None:
    template = os.path.relpath(catalog.yaml_root() / f"_{kind}.yaml", broken().parent)
    faults = told(broken(("task:", f"include: {template}\ntask:")))
    assert (faults == []) == (kind == "choice"), faults


# What is passed over


@pytest.mark.parametrize(
    "text",
    ["on: push\njobs: {a: 1}\n", "task: plain\ndataset_path: x\n", "a: {{ helm }}\n\t", "- 1\n", "", "task: [\n"],
    ids=["workflow", "lm-eval task", "no YAML", "list", "empty", "broken"],
)
def test_files_of_others_are_passed_over(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    done = run(str(tmp_path / "a.yaml"))
    assert (done.exit_code, done.output) == (0, "0 task files checked, 0 faults, 1 passed over (no dsb2 task)\n")


def test_a_folder_without_task_files_is_told(tmp_path: Path) -> None:
    done = run(str(tmp_path))
    assert (done.exit_code, done.stdout) == (0, "0 task files checked, 0 faults\n")
    assert done.stderr == f"no .yaml file in {tmp_path}\n"


def test_templates_are_passed_over(tmp_path: Path) -> None:
    shutil.copy(catalog.yaml_root() / "_choice.yaml", tmp_path)
    assert run(str(tmp_path / "_choice.yaml")).exit_code == 0
    assert check(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [(("task: my_pets\n", ""), "'task' is missing"), (("dsb2:\n", "dsb:\n"), "'dsb2' is missing")],
)
def test_files_that_were_meant_as_tasks_are_not(change: tuple[str, str], said: str, broken: Broken) -> None:
    assert any(said in text and ": fault: " in text for text in told(broken(change)))


# Strangers

HOOKS = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
from dsb2_tasks.hooks import Scored

def score(answer, doc, spec):
    return Scored({"accuracy": (float(answer == doc["label"]),)}, "ok", answer)

def crash(answer, doc, spec):
    return 1 / 0

def always(answer, doc, spec):
    return Scored({"accuracy": (0.5,)}, "ok", answer)

def upside_down(answer, doc, spec):
    return Scored({"accuracy": (float(answer != doc["label"]),)}, "ok", answer)
"""


@pytest.fixture
def hooked(folder: Path, broken: Broken) -> Callable[[str], Path]:
    (folder / "my_hooks.py").write_text(HOOKS)
    return lambda name: broken(("metadata", f"process_results: !function my_hooks.{name}\nmetadata"))


def test_code_of_strangers_is_not_run(hooked: Callable[[str], Path], folder: Path) -> None:
    (note,) = told(hooked("score"))
    assert ":3: note: process_results: my_hooks.score is not run" in note and "--allow-code" in note
    assert not (folder / "ran").exists()
    assert run(str(folder)).exit_code == 0


def test_a_function_is_looked_for_without_running_it(hooked: Callable[[str], Path], folder: Path) -> None:
    (fault,) = told(hooked("scor"))
    assert "has no function 'scor'; did you mean 'score'?" in fault
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("score", None),
        ("crash", "scoring raises ZeroDivisionError"),
        ("always", "the right answers of the first 4 rows get accuracy 0.5, and the best is 1"),
        ("upside_down", "the answer 'qwxzv' gets accuracy 1, better than the right answers (0)"),
        ("absent", "has no function 'absent'"),
    ],
)
def test_code_is_run_when_allowed(name: str, said: str | None, hooked: Callable[[str], Path], folder: Path) -> None:
    faults = told(hooked(name), allow_code=True)
    assert (faults == []) if said is None else any(said in text and ":3: fault" in text for text in faults), faults
    assert (folder / "ran").exists()


@pytest.mark.parametrize(
    "reference", ["os.system", "dsb2_tasks.cli.__main__.main", "dsb2_tasks.samples.build.main", "dsb2_tasks.hooks.KINDS"]
)
def test_only_hooks_serve_as_functions(reference: str, broken: Broken) -> None:
    findings = told(broken(("metadata", f"process_results: !function {reference}\nmetadata")))
    assert len(findings) == 1 and (": note: " if reference == "os.system" else ": fault: ") in findings[0]


def test_a_folder_that_would_hide_the_package_is_told(folder: Path) -> None:
    (folder / "dsb2_tasks").mkdir()
    (folder / "dsb2_tasks" / "task.py").write_text("raise SystemExit")
    (fault,) = told(folder / "my_pets.yaml")
    assert ":2: fault: class: lm-eval would run " in fault and "rename that folder" in fault


@pytest.mark.parametrize("path", ["../secret", "{absolute}", "./link", "./clips/../../secret", "~"])
def test_data_outside_of_the_folder_are_not_opened(path: str, tmp_path: Path) -> None:
    write_clips(tmp_path / "secret", ["dog", "cat"])
    home = tmp_path / "task"
    write_clips(home / "clips", ["dog"])
    (home / "link").symlink_to(tmp_path / "secret")
    file = home / "t.yaml"
    file.write_text(GOOD.replace("./clips", json.dumps(path.replace("{absolute}", str(tmp_path / "secret")))))
    (fault,) = told(file)
    assert fault.startswith(f"{file}:11: fault: ") and "leads out of the task's folder" in fault and "--allow-code" in fault
    if path != "~":
        assert told(file, allow_code=True) == []


def test_a_link_among_the_clips_is_not_followed(folder: Path) -> None:
    (folder / "clips" / "0.wav").unlink()
    (folder / "clips" / "0.wav").symlink_to("/dev/zero")
    (fault,) = told(folder / "my_pets.yaml")
    assert "/dev/zero" not in fault and "0.wav leads out of the task's folder" in fault


@pytest.mark.parametrize("include", ["/etc/passwd", "../outside.yaml"])
def test_includes_outside_of_the_folder_are_not_read(include: str, tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text("secret: 1\n")
    home = tmp_path / "task"
    home.mkdir()
    (home / "t.yaml").write_text(f"include: {include}\ntask: x\ndsb2: {{}}\n")
    (fault,) = told(home / "t.yaml")
    assert fault.startswith(f"{home / 't.yaml'}:1: fault: include: {include!r} leads out")


LAUGHS = "a0: &a0 [lol, lol]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS + "dsb2: {options: *a11}\ntask: x\n", "with its aliases"),
        ("dsb2: &a [*a]\ntask: x\n", "an alias (*name) contains itself"),
        ("task: x\ndsb2: " + "[" * 400 + "]" * 400 + "\n", "nested too deeply"),
        ("task: x\ndsb2: " + "[" * 100_000, "exceeded maximum nesting depth"),
        ("task: x\ndsb2: '" + "x" * (1 << 20) + "'\n", "larger than 1 MiB"),
        ("task: x\ndsb2: !!python/object/apply:os.system [ls]\n", "could not determine a constructor"),
    ],
    ids=["billion laughs", "circle", "deep", "very deep", "large", "python object"],
)
def test_bombs_are_bounded(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(text)
    start = time.monotonic()
    findings = told(tmp_path / "b.yaml")
    assert said in findings[0] and all(len(finding) < 2000 for finding in findings)
    assert time.monotonic() - start < 5
    assert [fault.path.name for fault in catalog.read_catalog([tmp_path]).faults] == ["b.yaml"]


STRANGE = [None, 5, float("nan"), "", "a\0b", "./" + "x" * 5000, [], [None], {1: 2}, {"a": [1]}, 10**30, "~nobody/x"]


def _keys(node: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield (*at, key)
        yield from _keys(value, (*at, key))


@pytest.mark.slow
@pytest.mark.parametrize("template", [True, False])
def test_no_value_of_any_key_is_too_strange(template: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = _run._Names()
    monkeypatch.setattr(_run, "_Names", lambda: copy.deepcopy(names))
    whole = yaml.safe_load(GOOD.replace("!function ", ""))
    whole |= {"tag": ["a"], "generation_kwargs": {"until": []}, "include": [], "process_results": "dsb2_tasks.hooks.choice"}
    whole |= {"dsb2_template": {"metric": "accuracy"}, "dsb2_base": {"source": "x"}} if template else {}
    whole["dsb2"] |= {"aliases": {"dog": ["hound"]}, "secondary": ["macro_f1"], "language": "en", "number": {"integer": True}}
    path = folder / "my_pets.yaml"
    for key in _keys(whole):
        for value in STRANGE:
            changed = copy.deepcopy(whole)
            node = changed
            for part in key[:-1]:
                node = node[part]
            node[key[-1]] = value
            path.write_text(yaml.safe_dump(changed))
            for finding in told(path):
                assert finding.startswith(f"{path}:") and "\n" not in finding
            catalog.read_catalog([folder])


def test_includes_that_double_are_refused(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"_{number}.yaml").write_text(f"include: [_{number + 1}.yaml, _{number + 1}.yaml]\n")
    (tmp_path / "_30.yaml").write_text("a: 1\n")
    (tmp_path / "t.yaml").write_text("include: _0.yaml\ntask: x\ndsb2: {}\n")
    findings = told(tmp_path / "t.yaml")
    assert len(findings) == 30 and all("is met twice" in finding for finding in findings)
    assert "included twice" in catalog.read_catalog([tmp_path]).faults[0].reason


def test_what_a_file_holds_stays_on_one_line(broken: Broken) -> None:
    path = broken(("kind: choice", 'kind: choice\n  "a\\n::error::b\\e[31m": 1'))
    (fault,) = told(path)
    assert "\n" not in fault and "\x1b" not in fault and "::error::b" in fault


# Data


def test_a_broken_clip_is_told(folder: Path) -> None:
    (folder / "clips" / "1.wav").write_bytes(b"no sound")
    (fault,) = told(folder / "my_pets.yaml")
    assert ":11: fault: clips of the first rows cannot be read" in fault and "row 1" in fault


def test_labels_that_any_answer_gets_are_told(folder: Path, broken: Broken) -> None:
    rows = (folder / "clips" / "metadata.jsonl").read_text()
    (folder / "clips" / "metadata.jsonl").write_text(re.sub('"(dog|cat)"', '"[]"', rows))
    (warning,) = told(broken(("choice", "labels"), ("accuracy", "multilabel_exact")))
    assert ": warning: the answer '' gets multilabel_exact 1" in warning


def test_without_data_only_the_file_is_checked(broken: Broken) -> None:
    path = broken(("./clips", "./nowhere"))
    (outcome,) = check(path, open_data=False)
    assert outcome.findings == [] and outcome.rows is None


def test_an_unreachable_hub_is_a_note_and_asked_once(broken: Broken, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    asked = []

    def load(*args: object, **settings: object) -> None:
        asked.append(args[0])
        raise ConnectionError("Couldn't reach the Hub")

    monkeypatch.setattr(datasets, "load_dataset", load)
    path = broken(("./clips", "somebody/clips"))
    (folder / "two.yaml").write_text(path.read_text().replace("my_pets", "your_pets"))
    for outcome in check(folder):
        (note,) = map(str, outcome.findings)
        assert ":11: note: data were not opened: the hub cannot be reached" in note
    assert asked == ["somebody/clips"]
    (fault,) = told(path, data="hub")
    assert ": fault: " in fault and "cannot be opened" in fault


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_named_like_a_file_and_is_none_is_a_fault_of_its_own(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "pets.yaml")
    (tmp_path / "zoo.yaml").write_text("a: 1")
    pets, zoo = check(tmp_path)
    assert ["cannot be read (it is a folder, pipe or device)" in finding.cause for finding in pets.findings] == [True]
    assert not zoo.ours and not zoo.findings


def test_embedded_samples_serve_as_data(broken: Broken) -> None:
    path = broken(
        ("./clips", "DynamicSuperb/AccentClassification_AccentdbExtended"), ("[dog, cat]", "labels"), ("  prompt: Which", "  # ")
    )
    (outcome,) = check(path, data="samples")
    assert outcome.findings == [] and outcome.rows and outcome.scores["accuracy"] == 1.0


# The command


def test_command_prints_faults_and_fails(folder: Path, broken: Broken) -> None:
    good = folder / "good.yaml"
    shutil.copy(folder / "my_pets.yaml", good)
    good.write_text(good.read_text().replace("my_pets", "my_other_pets"))
    path = broken(("metric:", "metrc:"))
    done = run(str(folder))
    assert done.exit_code == 1
    first, *others = done.stdout.splitlines()
    assert first.startswith(f"{good}: ok: my_other_pets, 4 rows; right answers: accuracy 1")
    assert others == [
        f"{path}:6: fault: dsb2.metrc: unknown key; did you mean 'metric'?",
        "2 task files checked, 1 fault",
    ]


def test_command_as_json(broken: Broken) -> None:
    path = broken(("metric:", "metrc:"))
    done = run(str(path), "--json")
    found = json.loads(done.output)
    assert done.exit_code == 1 and found["faults"] == 1
    (file,) = found["files"]
    assert file["path"] == str(path) and file["task"] == "my_pets" and not file["ok"]
    assert file["findings"] == [
        {"path": str(path), "line": 6, "level": "fault", "cause": "dsb2.metrc: unknown key", "fix": "did you mean 'metric'?"}
    ]


@pytest.mark.parametrize("words", [[], ["nowhere.yaml"], ["--no-data", "--data", "hub", "."]])
def test_wrong_use(words: list[str]) -> None:
    assert run(*words).exit_code == 2


@pytest.mark.slow
def test_every_task_of_the_package_passes() -> None:
    outcomes = check(catalog.yaml_root(), data="samples")
    assert len(outcomes) > 200
    assert [str(finding) for outcome in outcomes for finding in outcome.findings if finding.level != "note"] == []
