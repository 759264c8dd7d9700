"""Answers that were made elsewhere: a JSONL of task, document and answer, or result files of the authors' own scripts."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dsb2_tasks import catalog, hooks
from dsb2_tasks.catalog import TaskEntry
from dsb2_tasks.rescore._answered import Answered, AnswersError, Document, hook_of, open_task
from dsb2_tasks.results import read_json

log = logging.getLogger(__name__)

_KEYS = ("task", "answer", "doc_id", "sha256", "file")
_PLACES = ("doc_id", "sha256", "file")
_RESPONSE = "sllm_response"
#: Bytes of a file of the authors' scripts, and of a line of a JSONL; this keeps a wrong file from filling the memory.
_LARGEST, _LONGEST_LINE = 512 * 2**20, 128 * 2**20
#: Columns of a document that may hold the name of its clip.
_NAMES = ("file", "file_name", "filename", "path", "id")


def from_answers(files: Iterable[Path], data: str) -> list[Answered]:
    """Reads answers that were made without this suite.

    Args:
        files: ``.jsonl`` files of objects with the keys ``task``, ``answer`` and one of ``doc_id``, ``sha256`` (of the clip's
            file; of several clips joined by ``+``) and ``file`` (name of the first clip); or ``.json`` files of the authors'
            inference scripts, named after their instance: ``{clip name: {file, instruction, label, sllm_response}}``.
            A folder stands for all such files in it.
        data: Where documents of a JSONL come from, as in ``--metadata data=...``.

    Raises:
        AnswersError: A file has another form, or names a task or document that does not exist, or one twice.
        DataError: The data cannot be opened.
    """
    known = catalog.read_catalog().tasks
    lines: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    found: list[Answered] = []
    for path in _spread(files):
        if path.suffix == ".jsonl":
            answers = list(_jsonl(path))
            if not answers:
                raise AnswersError(f"{path}: holds no answer")
            for place, line in answers:
                lines.setdefault(_known(str(line["task"]), known, place).name, []).append((place, line))
        else:
            found.append(_of_authors(path, known))
    found += [_joined(known[task], data, entries) for task, entries in lines.items()]
    names = [answered.task for answered in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise AnswersError(f"answers to {twice[0]} come from two files; leave one out")
    return found


def _spread(files: Iterable[Path]) -> Iterator[Path]:
    for path in files:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.suffix in (".json", ".jsonl"))
            if not inside:
                raise AnswersError(f"{path}: no .json or .jsonl file in this folder")
            yield from inside
        elif path.suffix in (".json", ".jsonl"):
            yield path
        else:
            raise AnswersError(f"{path}: a .jsonl file, or a .json file of the authors' scripts, is needed")


def _jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with _open(path) as file:
        for number, text in enumerate(iter(partial(file.readline, _LONGEST_LINE + 1), b""), 1):
            place = f"{path} line {number}"
            if len(text) > _LONGEST_LINE:
                raise AnswersError(f"{place}: longer than {_LONGEST_LINE >> 20} MB, as no answer is")
            if not text.strip():
                continue
            try:
                line = read_json(text)
            except (ValueError, RecursionError) as error:
                raise AnswersError(f"{place}: no JSON ({error})") from None
            if not isinstance(line, dict):
                raise AnswersError(f"{place}: an object is needed, found a {type(line).__name__}")
            if unknown := sorted(set(line) - set(_KEYS)):
                near = difflib.get_close_matches(unknown[0], _KEYS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(_KEYS)}"
                raise AnswersError(f"{place}: unknown key {unknown[0]!r}; {hint}")
            if "task" not in line or "answer" not in line or sum(key in line for key in _PLACES) != 1:
                raise AnswersError(f"{place}: the keys task, answer and exactly one of {', '.join(_PLACES)} are needed")
            if not (line["answer"] is None or isinstance(line["answer"], str)):
                raise AnswersError(f"{place}: answer: a text is needed, or null for none, found {line['answer']!r}")
            key = next(key for key in _PLACES if key in line)
            if type(line[key]) is not (int if key == "doc_id" else str):  # true is no number of a document
                raise AnswersError(
                    f"{place}: {key}: a {'number' if key == 'doc_id' else 'text'} is needed, found {line[key]!r:.100}"
                )
            yield place, line


def _open(path: Path) -> Any:
    if path.exists() and not path.is_file():
        raise AnswersError(f"{path}: cannot be read (it is a pipe or device)")  # which would never end
    try:
        return path.open("rb")
    except OSError as error:
        raise AnswersError(f"{path}: cannot be read ({error.strerror or error})") from None


def _known(name: str, known: Mapping[str, TaskEntry], place: str) -> TaskEntry:
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    raise AnswersError(
        f"{place}: unknown task {name!r}" + (f"; did you mean {near[0]!r}?" if near else "; 'dsb2 list' names them")
    )


def _joined(entry: TaskEntry, data: str, lines: list[tuple[str, dict[str, Any]]]) -> Answered:
    """Answers of a JSONL beside the documents that they name."""
    spec, version, docs = open_task(entry, data)
    numbers = _numbers(docs, {key for _, line in lines for key in _PLACES if key in line})
    answers: dict[int, tuple[str, str]] = {}
    silent: set[int] = set()
    for place, line in lines:
        key = next(key for key in _PLACES if key in line)
        wanted = numbers[key].get(line[key])
        if not wanted:
            raise AnswersError(
                f"{place}: {entry.name} has no document with {key} {line[key]!r} on data={data!r} (it has {len(docs)} documents)"
            )
        if len(wanted) > 1:
            raise AnswersError(f"{place}: {key} {line[key]!r} names {len(wanted)} documents of {entry.name}; use doc_id")
        number = wanted[0]
        if number in answers or number in silent:
            raise AnswersError(
                f"{place}: document {number} of {entry.name} is answered twice (before: {answers.get(number, [''])[0]})"
            )
        if line["answer"] is None:
            silent.add(number)
        else:
            answers[number] = (place, line["answer"])
    documents = [Document(number, docs[number], answers[number][1]) for number in sorted(answers)]
    missing = len(docs) - len(documents)
    if missing:
        log.warning("%s: %d of %d documents have no answer; they are not scored", entry.name, missing, len(docs))
    return Answered(entry.name, spec, version, data, documents, len(docs), missing, hook_of(entry))


def _numbers(docs: Any, keys: set[str]) -> dict[str, dict[Any, list[int]]]:
    """For every way of naming a document that is used: name to numbers."""
    found: dict[str, dict[Any, list[int]]] = {key: {} for key in keys}
    for number in range(len(docs)):
        if "doc_id" in keys:
            found["doc_id"][number] = [number]
        if "sha256" in keys:
            joined = "+".join(str(handle["sha256"]) for handle in docs[number]["audio"])
            found["sha256"].setdefault(joined, []).append(number)
        if "file" in keys:
            text = docs.text(number)
            names = {str(text[column]) for column in _NAMES if text.get(column)}
            for name in names | {Path(name).name for name in names}:
                found["file"].setdefault(name, []).append(number)
    return found


def _of_authors(path: Path, known: Mapping[str, TaskEntry]) -> Answered:
    """A result file of the authors' scripts; it carries instruction and label, so no data set is opened."""
    entry = _instance(path, known)
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise AnswersError(f"{path}: {path.stat().st_size >> 20} MB is more than any file of answers has")
    with _open(path) as file:
        try:
            content = read_json(file.read())
        except (ValueError, RecursionError) as error:
            raise AnswersError(f"{path}: no JSON ({error})") from None
    if not isinstance(content, dict) or not content or not all(isinstance(value, dict) for value in content.values()):
        raise AnswersError(
            f"{path}: an object of clip names, each with an object of instruction, label and {_RESPONSE}, is needed"
        )
    if entry.spec.reference_audio:
        raise AnswersError(f"{path}: {entry.name} is compared with clips, which such a file does not hold")
    docs = [_document(path, name, row, entry) for name, row in content.items()]
    spec = hooks.close_options(entry.spec, docs)
    documents, silent = [], 0
    for number, (name, row) in enumerate(content.items()):
        answer = row.get(_RESPONSE)
        if answer is not None and not isinstance(answer, str):
            raise AnswersError(f"{path}: {name!r}: {_RESPONSE}: a text is needed, found {answer!r}")
        try:
            hooks.KINDS[spec.kind].read_label(docs[number], spec)
        except hooks.LabelError as error:
            raise AnswersError(f"{path}: {name!r}: label: {error}") from None
        if answer is None:
            silent += 1
        else:
            documents.append(Document(number, docs[number], answer))
    if silent:
        log.warning(
            "%s: %d of %d entries have no %s; they count as not answered, not as wrong", path, silent, len(docs), _RESPONSE
        )
    return Answered(entry.name, spec, entry.version, str(path.parent), documents, len(docs), silent, hook_of(entry))


def _instance(path: Path, known: Mapping[str, TaskEntry]) -> TaskEntry:
    names = {entry.spec.instance: entry for entry in known.values() if entry.spec.instance}
    names |= known
    if path.stem in names:
        return names[path.stem]
    near = difflib.get_close_matches(path.stem, names, n=1)
    raise AnswersError(
        f"{path}: its name is to be that of an instance, and {path.stem!r} is none"
        + (f"; did you mean {near[0] + '.json'!r}?" if near else "")
    )


def _document(path: Path, name: str, row: Mapping[str, Any], entry: TaskEntry) -> dict[str, Any]:
    if not isinstance(row.get("instruction"), str):
        raise AnswersError(f"{path}: {name!r}: instruction: a text is needed, found {row.get('instruction')!r}")
    labels = []
    # The scripts write every reference as label, label2 ...; a task whose column is called otherwise is found under either name.
    for number, column in enumerate(entry.spec.label_columns):
        value = row.get(column, row.get("label" if number == 0 else f"label{number + 1}"))
        if value is None or value == "":
            break
        labels.append(str(value).lower() if isinstance(value, bool) else str(value))
    source = entry.spec.data[0]
    text = {key: value for key, value in row.items() if key != _RESPONSE}
    return {
        **text,
        "dsb2_prompt": row["instruction"],
        "dsb2_label": labels,
        "dsb2_language": source.language or entry.spec.language,
        "audio": [],
    }
