"""Answers of a response store without the model that gave them: an unfinished run can be scored from here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsb2_tasks.models._responses import Answer, Record, StoreError, read_model, read_records

_PATTERN = "responses*.jsonl"


@dataclass(frozen=True)
class StoredAnswers:
    """What one model answered.

    Attributes:
        folder: Where its files lie.
        model: Its identity, as in the results file.
        answers: By :func:`dsb2_tasks.models.question_key`.
        unnamed: Answers that do not say what was asked; older versions stored no more than the key.
    """

    folder: Path
    model: dict[str, Any]
    answers: dict[str, Answer]
    unnamed: int


def stored_answers(folder: str | Path, choose: Mapping[str, Any] | None = None) -> StoredAnswers:
    """Reads all answers of one model, whichever ranks and runs wrote them.

    Args:
        folder: A model's folder, with files ``responses*.jsonl`` in it, or the folder above if it holds one model only.
        choose: Settings (``{"max_new_tokens": 512}``) of the answer that is meant where one question has several that differ.

    Raises:
        StoreError: There is no store of one model, no answer says what was asked, or a question has several answers.
    """
    at = _model_folder(Path(folder).expanduser())
    files = sorted(at.glob(_PATTERN))
    models = [model for model in map(read_model, files) if model is not None]
    if not models:
        raise StoreError(f"{at}: no file {_PATTERN} in it begins with a line that names a model; it is no response store")
    by_key: dict[str, Record] = {}
    for path in files:
        for key, record in read_records(path, models[0]):
            by_key.setdefault(key, record)  # as a run that goes on takes it
    records = list(by_key.values())
    questions: dict[str, list[Record]] = {}
    for record in records:
        if record.asked is not None:
            questions.setdefault(record.asked.question, []).append(record)
    unnamed = sum(record.asked is None for record in records)
    if unnamed and not questions:
        raise StoreError(
            f"{at}: none of its {unnamed} answers says what was asked (an older version wrote them); finish the run "
            f"with the model"
        )
    answers = {question: _the_one(at, several, choose or {}) for question, several in questions.items()}
    return StoredAnswers(at, models[0], answers, unnamed)


def _model_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise StoreError(f"{folder}: there is no such folder; a response store lies in ~/.cache/dsb2/responses or in responses=")
    if any(folder.glob(_PATTERN)):
        return folder
    below = sorted({path.parent for path in folder.glob(f"*/{_PATTERN}")})
    if len(below) == 1:
        return below[0]
    if not below:
        raise StoreError(f"{folder}: no response store in it (files {_PATTERN}, or one folder with such files)")
    shown = "; ".join(f"{path} ({_who(path)})" for path in below[:8])
    raise StoreError(f"{folder} holds answers of {len(below)} models; name the folder of one: {shown}")


def _who(folder: Path) -> str:
    model = next((found for found in map(read_model, sorted(folder.glob(_PATTERN))) if found is not None), {})
    return str(model.get("name") or model.get("class") or "unknown model")[:80]


def _the_one(at: Path, several: list[Record], choose: Mapping[str, Any]) -> Answer:
    """The answer to one question; equal answers under other settings are one."""
    left = several
    if len({record.answer.text for record in several}) > 1:
        left = [record for record in several if _fits(record, choose)] or several
    if len({record.answer.text for record in left}) == 1:
        return left[0].answer
    settings = [dict(record.asked.settings) for record in left if record.asked is not None]
    values = {
        name: sorted({json.dumps(found.get(name)) for found in settings}) for name in sorted({n for s in settings for n in s})
    }
    differing = {name: " or ".join(found)[:100] for name, found in values.items() if len(found) > 1}
    what = ", ".join(f"{name} ({found})" for name, found in differing.items()) or "that are not stored"
    raise StoreError(
        f"{at}: a question was answered {len(left)} times with other settings: {what}; choose by naming one, such as "
        f"{next(iter(differing), 'max_new_tokens')}=<value>, or keep the runs apart with responses=<folder>"
    )


def _fits(record: Record, choose: Mapping[str, Any]) -> bool:
    return record.asked is not None and all(record.asked.settings.get(name) == value for name, value in choose.items())
