"""Answers with their documents, wherever they come from."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dsb2_tasks import catalog, hooks
from dsb2_tasks.catalog import TaskEntry
from dsb2_tasks.scorer import Hook
from dsb2_tasks.spec import TaskSpec


class AnswersError(ValueError):
    """Saved answers cannot be scored; the message names file, place and way out."""


@dataclass(frozen=True)
class Document:
    """One answered document.

    Attributes:
        doc_id: Its number in the task.
        doc: The document as hooks read it.
        answer: What the model said, or the record of a failure of the tool.
        record: The logged sample that it comes from, if any.
    """

    doc_id: int
    doc: Mapping[str, Any]
    answer: str
    record: Mapping[str, Any] | None = None


@dataclass
class Answered:
    """All answers to one task.

    Attributes:
        task: Its name.
        spec: Its specification, with the options settled.
        version: Its version, with ``-samples`` for sample data.
        data: Where documents come from: ``hub``, ``samples``, a folder, or the file of answers itself.
        documents: The answered ones.
        total: Documents that the task has.
        not_answered: Documents that were to be answered and have no answer; counted, and not scored.
        hook: Reads and counts an answer, where that is not the kind's own.
        config: lm-eval's configuration of the task in the run, if there was one.
    """

    task: str
    spec: TaskSpec
    version: str
    data: str
    documents: Sequence[Document]
    total: int
    not_answered: int = 0
    hook: Hook | None = None
    config: dict[str, Any] = field(default_factory=dict)


def hook_of(entry: TaskEntry) -> Hook | None:
    """The scoring hook of a task file, where it names one of its own.

    Raises:
        AnswersError: It cannot be imported.
    """
    named = catalog.complete(catalog.load_config(entry.path), entry.path).get("process_results")
    if named in (None, f"dsb2_tasks.hooks.{entry.spec.kind}"):
        return None
    module, _, name = str(named).rpartition(".")
    beside = entry.path.parent / f"{module.replace('.', '/')}.py"  # lm-eval looks there first
    try:
        return getattr(_load(beside) if beside.is_file() else importlib.import_module(module), name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, ValueError) as error:
        raise AnswersError(f"{entry.path}: process_results: {named!r} cannot be imported ({error})") from None


def _load(path: Path) -> Any:
    made = importlib.util.spec_from_file_location(f"dsb2_hooks_of_{path.stem}", path)
    if made is None or made.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def check_document(doc: Mapping[str, Any], spec: TaskSpec, place: str) -> None:
    """Refuses a document out of a file that no data set can hold: it would be no fault of the answer.

    Raises:
        AnswersError: It lacks what is asked or expected, or the label has another shape than the task states.
    """
    asked, labels, language = doc.get("dsb2_prompt"), doc.get("dsb2_label"), doc.get("dsb2_language")
    if not isinstance(asked, str):
        raise AnswersError(f"{place}: dsb2_prompt: a text is needed, found {asked!r}")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise AnswersError(f"{place}: dsb2_label: a list of texts is needed, found {labels!r}")
    if not (language is None or isinstance(language, str)):
        raise AnswersError(f"{place}: dsb2_language: a text is needed, found {language!r}")
    references = doc.get("dsb2_reference", [])
    if not isinstance(references, list) or not all(isinstance(handle, dict) for handle in references):
        raise AnswersError(f"{place}: dsb2_reference: a list of clips is needed, found {references!r}")
    try:
        hooks.KINDS[spec.kind].read_label(doc, spec)
    except hooks.LabelError as error:
        raise AnswersError(f"{place}: label: {error}") from None


def open_task(entry: TaskEntry, data: str) -> tuple[TaskSpec, str, Any]:
    """Specification with settled options, version and documents of a task; clips stay where they are.

    Raises:
        DataError: The data cannot be opened.
    """
    from dsb2_tasks.sources import Docs, open_rows

    docs = Docs(entry.name, entry.spec, [open_rows(source, data, entry.path.parent, entry.name) for source in entry.spec.data])
    spec = hooks.close_options(entry.spec, [docs.text(i) for i in range(len(docs))])
    local = all(source.is_local for source in entry.spec.data)
    return spec, f"{entry.version}-samples" if data == "samples" and not local else entry.version, docs
