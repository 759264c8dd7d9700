"""Task files of strangers: a task, or an error that names file and place; looking at one runs nothing of it."""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks import catalog, hooks, validation
from dsb2_tasks.cli import main
from dsb2_tasks.hooks import LabelError
from dsb2_tasks.metrics import MissingLibrary
from dsb2_tasks.rescore._answered import hook_of
from dsb2_tasks.sources import DataError, open_rows
from dsb2_tasks.spec import DataSource, NumberSpec, SpecError, TaskSpec, read_spec

BLOCK: dict[str, Any] = {
    "modality": "audio",
    "domain": "sound_event",
    "kind": "choice",
    "metric": "accuracy",
    "options": ["dog", "cat"],
    "prompt": "Dog or cat?",
    "data": [{"path": "./clips"}],
}
TASK = f"task: mine\nclass: !function dsb2_tasks.task.DSB2Task\nmetadata: {{version: 1}}\ndsb2: {BLOCK!r}\n"


def _written(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _refusal(path: Path) -> str:
    """Why the catalogue leaves the one file of a folder out; ``dsb2 validate`` calls it a fault too."""
    read = catalog.read_catalog([path.parent])
    assert not read.tasks and not read.groups
    (fault,) = read.faults
    (outcome,) = validation.validate([path], open_data=False)
    assert outcome.faults and fault.path == path and fault.reason.startswith(str(path))
    return fault.reason


# ------------------------------------------------------------------ any value in any field

FIELDS = [
    *(("dsb2", name) for name in TaskSpec.model_fields),
    *(("dsb2", "data", 0, name) for name in DataSource.model_fields),
    *(("dsb2", "number", name) for name in NumberSpec.model_fields),
    ("dsb2", "data", 0),
    ("dsb2", "aliases", "dog"),
]
TEXTS = st.text(max_size=20) | st.sampled_from(["", "\0", "\x1b[31m", "\u202e", "a\nb", "x" * 10_000, "../..", "yes", "labels"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from([10**400, -1, 0])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))


@settings(max_examples=300, deadline=None)
@given(field=st.sampled_from(FIELDS), value=VALUES)
def test_any_value_of_any_field_gives_a_task_or_an_error_that_names_the_field(field: tuple[Any, ...], value: Any) -> None:
    block = {**BLOCK, "data": [dict(BLOCK["data"][0])]}
    at: Any = {"dsb2": block}
    for key in field[:-1]:
        at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    at[field[-1]] = value
    try:
        spec = read_spec({"dsb2": block}, "mine.yaml")
        hooks.KINDS[spec.kind].metrics(spec)
        hooks.KINDS[spec.kind].read_label({"dsb2_label": ["dog"], "dsb2_prompt": "", "dsb2_language": None, "audio": []}, spec)
    except SpecError as error:
        named = next(str(key) for key in reversed(field) if isinstance(key, str) and key != "dog")
        # What is wrong between two fields is told by the name of one of them.
        assert named in str(error) or any(name in str(error) for name in TaskSpec.model_fields), (field, str(error))
        assert len(str(error)) < 20_000
    except (LabelError, MissingLibrary):
        pass  # the label of this test is none of every kind
    else:
        assert TaskSpec.model_validate(spec.model_dump(mode="json")) == spec


NAMES = ["a/b", "../x", "a\nb", "\x1b[31mx", "n" * 10_000, "é" * 150, "-x", "a b", "", 5, True, None, ["a"], {"a": 1}]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:12])
def test_names_that_no_file_and_no_command_line_can_hold(tmp_path: Path, name: Any) -> None:
    said = _refusal(_written(tmp_path, yaml.safe_dump({"task": name, "dsb2": BLOCK})))
    assert "task: " in said and "is no name of a task" in said and len(said) < 500 and said.isprintable()


def test_a_run_refuses_such_a_name_before_a_model_is_asked(tmp_path: Path) -> None:
    """lm-eval would find at the end of the run that it cannot write the samples, and end as if all were well."""
    from dsb2_tasks.task import DSB2Task

    with pytest.raises(SpecError, match=r"task: 'a/b' is no name of a task; use letters, digits, '_', '-' and '\.' alone"):
        DSB2Task({"task": "a/b", "dsb2": BLOCK})


@pytest.mark.parametrize(
    "path",
    ["a\nb", "a\0b", "\x1b[31m", "org/" + "n" * 10_000, "./" + "n" * 300, "\u202eorg/x", ""],
    ids=["line end", "nul", "escape", "10,000 characters", "300 characters", "override", "empty"],
)
def test_data_sets_that_cannot_be_called_so(tmp_path: Path, path: str) -> None:
    said = _refusal(_written(tmp_path, yaml.safe_dump({"task": "mine", "dsb2": {**BLOCK, "data": [{"path": path}]}})))
    assert "dsb2.data.0.path: " in said and len(said) < 1000


@pytest.mark.parametrize(
    "path", ["./\u9332\u97f3\u3000\u96c6", "./a\u00a0b", "./m\u00fc ller"], ids=["wide", "unbroken", "plain"]
)
def test_a_folder_may_have_spaces_of_any_width(path: str) -> None:
    assert DataSource(path=path).path == path


@pytest.mark.parametrize(
    "path", ["file:///etc/passwd", "http://localhost:1/x", "https://x.invalid/a", "s3://a/b", "hf://datasets/a/b", "org/../../x"]
)
@pytest.mark.parametrize("data", ["hub", "samples", "folder"])
def test_addresses_are_no_data_sets(tmp_path: Path, path: str, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a connection was tried"))
    with pytest.raises(DataError, match=r"cannot be opened|no embedded samples|does not exist|leads out"):
        open_rows(DataSource(path=path), str(tmp_path) if data == "folder" else data, tmp_path, "mine")
    (outcome,) = validation.validate([_written(tmp_path, TASK.replace("./clips", path))])
    assert any("is neither a hub name as 'org/name' nor a folder" in str(fault) for fault in outcome.faults)


# ------------------------------------------------------------------ keys that stand twice


@pytest.mark.parametrize(
    ("text", "line", "key", "first"),
    [
        (TASK + "task: other\n", 5, "task", 1),
        ("task: a\ndsb2:\n  kind: choice\n  metric: accuracy\n  kind: number\n", 5, "kind", 3),
        ("task: a\ndsb2: {kind: choice, kind: number}\n", 2, "kind", 2),
        ("task: a\ndsb2:\n  data:\n  - path: ./a\n    path: ./b\n", 5, "path", 4),
        ('task: a\n"k\\e[31m": 1\n"k\\e[31m": 2\n', 3, "k\\x1b[31m", 2),
    ],
    ids=["top", "block", "flow", "list", "escape"],
)
def test_a_key_that_stands_twice_is_refused_with_both_lines(tmp_path: Path, text: str, line: int, key: str, first: int) -> None:
    path = _written(tmp_path, text)
    with pytest.raises(SpecError) as caught:
        catalog.load_config(path)
    said = f"key '{key}' stands twice in one block, first in line {first}"
    assert str(caught.value) == f"{path}: line {line}: {said}; leave one of them out"
    assert caught.value.line == line
    (outcome,) = validation.validate([path], open_data=False)
    assert not outcome.ours or any(fault.line == line and said in str(fault) for fault in outcome.faults)


def test_a_key_that_stands_twice_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "_t.yaml").write_text("a: 1\nb: 2\na: 3\n")
    said = catalog.read_catalog([_written(tmp_path, "include: _t.yaml\n" + TASK).parent]).faults
    assert not said or str(tmp_path / "_t.yaml") in said[0].reason
    with pytest.raises(SpecError, match=r"_t\.yaml: line 3: key 'a' stands twice in one block, first in line 1"):
        catalog.load_config(tmp_path / "mine.yaml")


def test_what_wins_over_a_merged_block_does_not_stand_twice(tmp_path: Path) -> None:
    path = _written(tmp_path, "base: &b {x: 1, y: 1}\nmore: &m {<<: *b, x: 2}\ntop: {<<: *m, x: 3}\n")
    assert catalog.load_config(path)["top"] == {"x": 3, "y": 1}


def test_two_merged_blocks_are_no_key_that_stands_twice(tmp_path: Path) -> None:
    path = _written(tmp_path, "a: &a {x: 1}\nb: &b {y: 2}\ntop:\n  <<: *a\n  <<: *b\n")
    assert catalog.load_config(path)["top"] == {"x": 1, "y": 2}


# ------------------------------------------------------------------ bombs

LAUGHS = "m0: &m0 {a: 1}\n" + "".join(f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}], k{i}: 1}}\n" for i in range(1, 9))
BOMBS: dict[str, tuple[str | bytes, str]] = {
    "merged laughs": (LAUGHS + TASK, "with its aliases"),
    "merged circle": ("x: &x {<<: *x}\n" + TASK, "contains itself"),
    "key in a circle": ("? &k [*k]\n: 1\n" + TASK, "contains itself"),
    "many keys": ("".join(f"k{i}: 1\n" for i in range(26_000)) + TASK, "more than 50000 values"),
    "long key": ('"' + "k" * (1 << 20) + '": 1\n' + TASK, "larger than 1 MiB"),
    "complex key": ("? {a: {b: [c]}}\n: 1\n" + TASK, "not valid YAML in line 1"),
    "number of many digits": ("n: " + "7" * 5000 + "\n" + TASK, "more than 100 digits"),
    "number in base 60": ("n: 1" + ":59" * 100_000 + "\n" + TASK, "more than 100 digits"),
    "no date": ("n: 2024-99-99\n" + TASK, "not valid YAML"),
    "no bytes": ("n: !!binary '\u00e9'\n" + TASK, "not valid YAML"),
    "an object": ("n: !!python/object/new:os.system [id]\n" + TASK, "could not determine a constructor"),
    "a module": ("n: !!python/module:antigravity ''\n" + TASK, "could not determine a constructor"),
    "a name": ("n: !!python/name:os.system ''\n" + TASK, "could not determine a constructor"),
    "a tag of strangers": ("n: !include /etc/passwd\n" + TASK, "could not determine a constructor"),
    "a function of many": ("n: !function [a, b]\n" + TASK, "not valid YAML in line 1"),
    "latin-1": (("n: \u00e9\n" + TASK).encode("latin-1"), "not valid YAML"),
    "nul": (b"n: \0\n" + TASK.encode(), "not valid YAML"),
    "two documents": (TASK + "---\n" + TASK, "not valid YAML"),
    "a number": ("5\n", "a mapping is needed"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_an_error_of_its_file_at_once(tmp_path: Path, name: str) -> None:
    text, said = BOMBS[name]
    path = _written(tmp_path, text)
    start = time.process_time()
    with pytest.raises(SpecError) as caught:
        catalog.load_config(path)
    assert time.process_time() - start < 3
    assert str(caught.value).startswith(str(path)) and said in str(caught.value) and len(str(caught.value)) < 1000
    if b"task" in path.read_bytes():
        assert said in catalog.read_catalog([tmp_path]).faults[0].reason


@pytest.mark.parametrize("size", [100 * 2**20, 2**40])
def test_a_huge_file_is_not_read(tmp_path: Path, size: int) -> None:
    path = _written(tmp_path, TASK)
    os.truncate(path, size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "larger than 1 MiB" in catalog.read_catalog([tmp_path]).faults[0].reason
    assert "larger than 1 MiB" in _refusal(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


@pytest.mark.parametrize("include", ["{folder}/mine.yaml", "mine.yaml", "loop", "pipe", ".", "/dev/zero", "a\\0b", "n" * 5000])
def test_what_cannot_be_included(tmp_path: Path, include: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    said = _refusal(_written(tmp_path, f'include: "{include.format(folder=tmp_path)}"\n' + TASK))
    assert "include: " in said and ("does not exist" in said or "includes itself" in said)


# ------------------------------------------------------------------ code


@pytest.fixture
def trap(tmp_path: Path) -> tuple[Path, Path]:
    """A folder in which every file of Python leaves a mark when it runs; and the mark."""
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w').close()\ndef boom(*words):\n    raise SystemExit('ran')\nBoom = boom\n"
    home = tmp_path / "home"
    (home / "clips").mkdir(parents=True)
    for place in (home, tmp_path, home / "clips"):
        for name in ("evil", "clips", "conftest", "sitecustomize"):
            (place / f"{name}.py").write_text(code)
    (home / "clips" / "metadata.csv").write_text("file_name,label\nx.wav,dog\n")
    return home, mark


FUNCTIONS = ["evil.boom", "../evil.boom", "{outside}/evil.boom", "..evil.boom", "os.system", "__main__.x", "antigravity.x"]
LOOKING = ["list", "list --json", "show mine", "show other", "validate .", "explain mine --label dog"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_looking_at_a_task_runs_no_function(trap: tuple[Path, Path], function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home, mark = trap
    named = "!function " + function.format(outside=home.parent)
    keys = "".join(f"{key}: {named}\n" for key in ("process_results", "doc_to_text", "doc_to_audio", "doc_to_target"))
    _written(home, TASK.replace("dsb2_tasks.task.DSB2Task", "evil.Boom").replace("mine", "other")).rename(home / "other.yaml")
    _written(home, TASK + keys)
    monkeypatch.setenv(catalog.TASKS_PATH, str(home))
    monkeypatch.chdir(home)
    for words in LOOKING:
        done = CliRunner().invoke(main, words.split())
        assert done.exit_code in (0, 1, 2), (words, done.output)
    assert {"mine", "other"} <= set(catalog.read_catalog().tasks)
    assert not mark.exists()


def test_a_function_runs_when_answers_are_scored_and_not_before(trap: tuple[Path, Path]) -> None:
    """The moment at which a stranger's code is imported: as in lm-eval, when their task is to be scored."""
    home, mark = trap
    _written(home, TASK + "process_results: !function evil.boom\n")
    entry = catalog.read_catalog([home]).tasks["mine"]
    assert not mark.exists()
    found = hook_of(entry)
    assert mark.exists() and found is not None and found.__name__ == "boom"


def test_data_are_not_code(trap: tuple[Path, Path]) -> None:
    home, mark = trap
    rows = open_rows(DataSource(path="./clips"), "hub", home, "mine")
    assert len(rows) == 1 and rows.columns["label"] == ["dog"] and not mark.exists()


# ------------------------------------------------------------------ files that are written from data

LABELS = [*"'\"~|", "!!python/object:x", "- a", "a: b", "#x", "\u202ex", "x\ny", "=1", "{{x}}", "null", "1e5", "&a", "*a"]
LABELS += ["\x1b[31m", "yes", "%x", "@x", "`x`", "> y", "? z", "\ufeffb", "a\tb", "2024-01-01", "!function a.b", "<<"]
LABELS += ["p\u2028p", "n\x85n"]  # PyYAML does not read every line end of Unicode back as it wrote it


def test_a_task_written_from_hostile_labels_holds_these_labels_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    rows = [{"file_name": f"{n}.wav", "label": label, "x\x1b[31m\ny: z": "t"} for n, label in enumerate(LABELS * 2)]
    (tmp_path / "clips" / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "mine.yaml"
    words = f"new --from {tmp_path / 'clips'} --out {path} --name mine --kind choice --modality audio --domain sound_event"
    done = CliRunner().invoke(main, [*words.split(), "--label", "label", "--prompt", "Which\u202e?"])
    assert done.exit_code == 1 and "clips of the first rows cannot be read" in done.output  # there are none
    for text in (done.output, path.read_text()):
        assert text.replace("\n", "").isprintable()
    config = catalog.load_config(path)
    assert set(config) - {"licence", "source"} == {"task", "class", "metadata", "dsb2"}
    assert config["class"] == "dsb2_tasks.task.DSB2Task"
    spec = catalog.read_catalog([tmp_path]).tasks["mine"].spec
    assert spec.options == tuple(sorted(LABELS)) and spec.prompt == "Which\u202e?"
