"""Answers out of a response store: an unfinished run, scored as far as it came."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dsb2_tasks import catalog
from dsb2_tasks.rescore._answered import Answered, AnswersError, Document, hook_of, open_task


def from_store(
    folder: Path, tasks: Iterable[str], data: str, choose: dict[str, Any] | None = None
) -> tuple[list[Answered], dict[str, Any]]:
    """The stored answers of one model to some tasks, and the model's identity.

    Args:
        folder: A model's folder in the store, or the store if it holds one model.
        tasks: Names of tasks.
        data: Where documents come from, as in ``--metadata data=...``.
        choose: Settings of the answer that is meant where a question was answered several times.

    Raises:
        StoreError: The store cannot be read.
        AnswersError: It holds no answer to any of these tasks.
    """
    from dsb2_tasks.models import question_key, stored_answers

    stored = stored_answers(folder, choose)
    known = catalog.read_catalog().tasks
    found = []
    for name in tasks:
        spec, version, docs = open_task(known[name], data)
        documents = []
        for number in range(len(docs)):
            doc = docs[number]
            answer = stored.answers.get(question_key(doc["dsb2_prompt"], [handle["sha256"] for handle in doc["audio"]]))
            if answer is not None:
                documents.append(Document(number, doc, answer.delivered))
        if documents:
            missing = len(docs) - len(documents)
            found.append(Answered(name, spec, version, data, documents, len(docs), missing, hook_of(known[name])))
    if not found:
        raise AnswersError(
            f"{stored.folder}: holds {len(stored.answers)} answers, and none to these tasks on data={data!r}; name the tasks "
            f"of the run by --tasks and its data by --data"
        )
    return found, stored.model
