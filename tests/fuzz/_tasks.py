"""Target ``tasks``: a stranger's YAML file in a task folder is a task, a group, something else, or a fault with a reason.

An input is the file.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import tempfile
from pathlib import Path

import yaml

from dsb2_tasks.catalog import Catalog, GroupEntry, read_catalog
from dsb2_tasks.hooks import KINDS, LabelError
from dsb2_tasks.spec import SpecError, TaskSpec

from ._target import Target, changed_tree, read_words, spliced

_FOLDER = tempfile.TemporaryDirectory(prefix="dsb2-fuzz-")
_NUMBER = itertools.count()
_DOC = {"dsb2_prompt": "What?", "dsb2_language": None, "audio": []}
_TEXTS = ("yes", "0.5-1.2 dog, 3.0-4.1 cat", "[(0.5, 1.0, 60)]", "C4 D4", "7", "artist: fox", "ORG: fox", "a dog / DET NOUN", "")


def _read(data: bytes) -> tuple[Catalog, str]:
    """The catalogue of a folder that holds this one file, and the name of the file."""
    path = Path(_FOLDER.name) / f"{next(_NUMBER):09}.yaml"  # a name of its own: the catalogue remembers files
    path.write_bytes(data)
    try:
        return read_catalog([path.parent]), str(path)
    finally:
        path.unlink()


def check(data: bytes) -> None:
    """One of four things comes out, the same each time, and a task that comes out can be used."""
    catalog, path = _read(data)
    again, other = _read(data)
    assert re.sub(re.escape(path), "", repr(catalog)) == re.sub(re.escape(other), "", repr(again))
    assert len(catalog.tasks) + len(catalog.groups) + len(catalog.faults) <= 1
    assert all(path in fault.reason and len(fault.reason) < 20_000 for fault in catalog.faults)
    for name, task in catalog.tasks.items():
        assert isinstance(name, str) and all(isinstance(tag, str) for tag in task.tags)
        assert TaskSpec.model_validate(json.loads(json.dumps(task.spec.model_dump(), allow_nan=False))) == task.spec
        _is_usable(task.spec)
    for group in catalog.groups.values():
        _is_group(catalog, group)


def _is_usable(spec: TaskSpec) -> None:
    """A task is refused when it is loaded, its labels are refused, or any answer can be scored."""
    kind = KINDS[spec.kind]
    if spec.kind == "waveform":
        return
    try:
        kind.metrics(spec)
    except SpecError:
        return
    for label, answer in itertools.product((*_TEXTS, *(spec.options or ())[:1]), (_TEXTS[0], _TEXTS[1])):
        doc = {**_DOC, "dsb2_label": [label]}
        try:
            kind.read_label(doc, spec)
        except (SpecError, LabelError):
            continue
        kind.score(answer, doc, spec)
        kind.score(kind.reference_answer(doc, spec), doc, spec)


def _is_group(catalog: Catalog, group: GroupEntry) -> None:
    assert all(isinstance(name, str) for name in (*group.spec.tasks, *group.spec.groups)), group.spec
    assert isinstance(group.spec.domain, str | None) and isinstance(group.spec.mean, str | None), group.spec
    json.dumps(catalog.chosen(group.spec))


def _mutate(data: bytes, rnd: random.Random) -> bytes:
    """One value or key of the mapping changed."""
    try:
        tree = changed_tree(yaml.load(data, yaml.CSafeLoader), _WORDS, rnd)
        return yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False, default_flow_style=rnd.choice([None, True])).encode()
    except Exception:  # no YAML, or what PyYAML stumbles over
        return spliced(data, _WORDS, rnd)


_WORDS = (
    *read_words("tasks"),
    *TaskSpec.model_fields,
    *KINDS,
    *dict.fromkeys(name for kind in KINDS.values() for name in kind.rows),
)

TASKS = Target("tasks", check, _WORDS, _mutate)
