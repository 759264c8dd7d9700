"""The documents of a task: rows of all its data sets read as one, with handles in place of audio.

A document is made when it is asked for.  Only then is a clip's file read, once, for its sha256; nothing is decoded and
nothing is kept but the handle.  So ``--limit 2`` on a set of 200 clips reads two clips.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from dsb2_tasks.audio import STORE, AudioError, make_handle
from dsb2_tasks.sources._rows import DataError, Rows
from dsb2_tasks.spec import TaskSpec

_PROMPT, _LABEL, _LANGUAGE, _AUDIO = "dsb2_prompt", "dsb2_label", "dsb2_language", "audio"
_REFERENCE = "dsb2_reference"


class Docs:
    """Documents of one task, in data order; stands in for the ``datasets.Dataset`` that lm-eval expects.

    Each document holds the text columns of its row (but hidden ones), and

    * ``dsb2_prompt``: the instruction with its context, what a model gets to read,
    * ``dsb2_label``: the label columns as texts, up to the first empty one,
    * ``dsb2_language``: language of the row where known, else None,
    * ``audio``: handles of the clips in order,
    * ``dsb2_reference``, only where the answer is audio: handles of the right clips, which no model gets.
    """

    def __init__(self, task: str, spec: TaskSpec, parts: Sequence[Rows]) -> None:
        """Checks the columns of every part and registers its clips with the audio store.

        Raises:
            DataError: A column that the task needs is missing.
        """
        self._task, self._spec, self._parts = task, spec, tuple(parts)
        self._audio_columns = [self._clip_columns(part, spec.audio_columns, "dsb2.audio") for part in self._parts]
        self._reference_columns = [
            self._clip_columns(part, spec.reference_columns, "dsb2.reference_audio") for part in self._parts
        ]
        for part in self._parts:
            self._check_columns(part)
            STORE.register(part.repo, part.revision, part.split, part.audio)
        self._rows = [(number, row) for number, part in enumerate(self._parts) for row in range(len(part))]
        taken = set(spec.hidden)
        self._text_columns = [c for c in dict.fromkeys(c for part in self._parts for c in part.columns) if c not in taken]
        self._digests: dict[tuple[int, int, str], str] = {}  # sha256 of clips that were read once

    def _clip_columns(self, part: Rows, wanted: tuple[tuple[str, ...], ...], key: str) -> tuple[str, ...]:
        found = []
        for alternatives in wanted:
            column = next((c for c in alternatives if c in part.audio_columns), None)
            if column is None:
                raise DataError(
                    f"{self._task}: data set {part.repo!r} has no audio column {' or '.join(map(repr, alternatives))}; "
                    f"its audio columns are {', '.join(part.audio_columns) or 'none'} (see {key} in the task file)"
                )
            found.append(column)
        return tuple(found)

    def _check_columns(self, part: Rows) -> None:
        needed = {"dsb2.context": self._spec.context}
        if not self._spec.reference_audio:
            needed["dsb2.label"] = self._spec.label_columns[:1]
        if self._spec.prompt is None:
            needed["dsb2.instruction"] = (self._spec.instruction,)
        for key, columns in needed.items():
            for column in columns:
                if column not in part.columns:
                    raise DataError(
                        f"{self._task}: data set {part.repo!r} has no column {column!r}; its text columns are "
                        f"{', '.join(part.columns) or 'none'} (see {key} in the task file)"
                    )
        if len(part) == 0:
            raise DataError(f"{self._task}: data set {part.repo!r} has no rows in split {part.split!r}")

    @property
    def features(self) -> dict[str, None]:
        """Names of the document's fields, as lm-eval asks for them."""
        own = [_PROMPT, _LABEL, _LANGUAGE, _AUDIO, *([_REFERENCE] if self._spec.reference_audio else [])]
        return dict.fromkeys([*self._text_columns, *own])

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> dict[str, Any]:
        doc = {**self.text(index), _AUDIO: self._clips(index, self._audio_columns)}
        if self._spec.reference_audio:
            doc[_REFERENCE] = self._clips(index, self._reference_columns)
        return doc

    def place(self, index: int) -> str:
        """Data set and row of a document, for messages."""
        part, row = self._rows[index]
        return f"{self._parts[part].repo} row {row}"

    def keep(self, indices: Sequence[int]) -> None:
        """Leaves out every document that is not named; order stays."""
        self._rows = [self._rows[index] for index in sorted(indices)]

    def text(self, index: int) -> dict[str, Any]:
        """A document without its clips; touches no audio file."""
        number, row = self._rows[index]
        columns = self._parts[number].columns
        doc: dict[str, Any] = {name: columns[name][row] if name in columns else None for name in self._text_columns}
        return {
            **doc,
            _PROMPT: self._prompt(columns, row),
            _LABEL: self._labels(columns, row),
            _LANGUAGE: self._language(number),
        }

    def _language(self, number: int) -> str | None:
        return self._spec.data[number].language or self._spec.language

    def _prompt(self, columns: dict[str, list[Any]], row: int) -> str:
        spec = self._spec
        prompt = spec.prompt if spec.prompt is not None else str(columns[spec.instruction][row] or "")
        for column in spec.context:
            value = str(columns[column][row] or "")
            if value and not re.search(rf"(?<!\w){re.escape(value)}(?!\w)", prompt, re.IGNORECASE):
                prompt += f"\n{column}: {value}"
        return prompt

    def _labels(self, columns: dict[str, list[Any]], row: int) -> list[str]:
        labels: list[str] = []
        for column in self._spec.label_columns:
            value = columns[column][row] if column in columns else None
            if value is None or value == "":
                break
            labels.append(str(value).lower() if isinstance(value, bool) else str(value))
        return labels

    def _clips(self, index: int, columns: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
        number, row = self._rows[index]
        return [self._handle(number, row, column) for column in columns[number]]

    def _handle(self, number: int, row: int, column: str) -> dict[str, Any]:
        part, key = self._parts[number], (number, row, column)
        if key not in self._digests:
            self._digests[key] = _fingerprint(part, row, column)
        return make_handle(
            repo=part.repo,
            revision=part.revision,
            split=part.split,
            row=row,
            column=column,
            sha256=self._digests[key],
            channels=self._spec.channels,
            task_kind=self._spec.kind,
            # Of a translation the language stated is the one translated into, not the one heard.
            language=None if self._spec.kind == "translation" else self._language(number),
        )


def _fingerprint(part: Rows, row: int, column: str) -> str:
    try:
        return hashlib.sha256(part.audio.read(row, column).data).hexdigest()
    except AudioError:
        # The backend meets the error again and records it; the place stands in for the content that is not there.
        return hashlib.sha256(f"unreadable {part.repo} {part.split} {row} {column}".encode()).hexdigest()
