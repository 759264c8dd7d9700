"""The response store: what a model answered is never asked again, and never taken for another question's answer.

An answer is kept under the sha256 of everything that it hangs on: model, revision, adapter, prompt, generation settings, the
clips' contents in order, and how audio was prepared.  Prompts and audio themselves are not stored.

On disk, one folder a model, in it one file a rank, JSON lines::

    <root>/<first 16 hex digits of the model identity's hash>/responses-rank0.jsonl
        {"dsb2_responses": 1, "model": {...}}                                        header, the model's whole identity
        {"key": "<64 hex>", "text": "yes", "events": ["resampled"], "capped": false, "windows": 1,
         "question": "<64 hex>", "settings": {"max_new_tokens": 256, ...}}
        ...

The key serves the run that goes on.  ``question`` (text and clips alone, :func:`question_key`) and ``settings`` serve those who
look for the answer without the model, see :func:`dsb2_tasks.models.stored_answers`; records of older versions lack both.

Files are only ever appended to, a batch at a time, so a killed process leaves at most one broken line at the end; it is cut off
when the file is next written to.  A process holds a lock on the file it writes; another process of the same rank takes
``responses-rank0-2.jsonl`` and so on.  All files of the folder are read at the start, whichever rank wrote them, so a run may go
on with another number of ranks.  What is read is checked line by line, for anyone may have edited it.

Where a disk is full or gone, nothing more is asked while an answer in hand is not kept: writing is tried again for some minutes,
then the run stops.  It would lose more by going on.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import logging
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

FORMAT = 1
_HEADER = "dsb2_responses"
#: How long writing is tried before a run stops, and the time between two trials, in seconds.
_PATIENCE, _PAUSE = 300.0, 5.0


@dataclass(frozen=True)
class Answer:
    """What a model said, and what befell the audio on its way there.

    Attributes:
        text: The answer.
        events: Audio events in clip order (``resampled``, ``truncated`` ...), kept so that a resumed run counts the same.
        capped: Whether generation ended at the token cap.
        windows: Number of windows that were asked about; above 1 only for long audio in chunks.
    """

    text: str
    events: tuple[str, ...] = ()
    capped: bool = False
    windows: int = 1

    @property
    def delivered(self) -> str:
        """The text as lm-eval gets it: without imitations of a failure, and with U+FFFD for half a character.

        Servers escape in JSON, so an answer may end within a character, and lm-eval would lose the samples of its task.
        """
        from dsb2_tasks.audio import clean_answer

        return clean_answer(self.text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def response_key(
    model: Mapping[str, Any], prompt: Any, generation: Mapping[str, Any], audio: Sequence[str], preprocessing: Mapping[str, Any]
) -> str:
    """The key of one question to one model.

    Args:
        model: Identity of the model: name or fingerprint, revision, number type, adapter and template versions ...
        prompt: What is asked, in full (text or chat messages), JSON-able.
        generation: Generation settings as they reach the model.
        audio: sha256 of the clips' file bytes, in order.
        preprocessing: How the clips are prepared: rate, channels, length policy ...

    Returns:
        64 hex digits.
    """
    return _hash([model, prompt, generation, list(audio), preprocessing])


class StoreError(ValueError):
    """A response store cannot be used, or does not say which of several answers is meant; the message says what to do."""


def unwritable(folder: Path) -> str | None:
    """Why no file could be made in a folder, which need not be there yet; None if one could.  Makes nothing."""
    there = folder.expanduser().absolute()
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return f"{there} is a file" if there.exists() else f"{there} is a link that leads nowhere"
    return None if os.access(there, os.W_OK | os.X_OK) else f"{there} may not be written to"


def check_writable(root: Path) -> None:
    """Refuses a folder that no store could be made in, before a model is loaded or asked; makes nothing.

    Raises:
        StoreError: It, or the nearest folder above it that is there, is no folder or may not be written to.
    """
    if reason := unwritable(root):
        raise StoreError(
            f"answers cannot be kept in {root}: {reason}; name a folder in responses= or DSB2_CACHE, or set resume=false"
        )


def question_key(text: str, audio: Sequence[str]) -> str:
    """What is asked, whoever is asked and however the answer is made.

    Args:
        text: Text of the last user turn.
        audio: sha256 of the clips' file bytes, in order.

    Returns:
        64 hex digits.
    """
    return _hash([text, list(audio)])


@dataclass(frozen=True)
class Asked:
    """What an answer was given to, in a form that can be looked for without the model.

    Attributes:
        question: From :func:`question_key`.
        settings: Generation settings and preparation of the clips, flat and JSON-able.
    """

    question: str
    settings: Mapping[str, Any]


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


@dataclass(frozen=True)
class Record:
    """One line of a store: an answer, and what was asked where that is known."""

    answer: Answer
    asked: Asked | None = None


class ResponseStore:
    """Answers of one model, in memory and on disk."""

    def __init__(self, root: str | Path, model: Mapping[str, Any], *, rank: int = 0) -> None:
        """Reads all answers that are there.

        Args:
            root: Folder for the stores of all models.
            model: Identity of the model, JSON-able; the same mapping that goes into :func:`response_key`.
            rank: Global rank of this process.

        Raises:
            StoreError: Nothing can be written there, or a file that is there cannot be read.
        """
        self._model = json.loads(json.dumps(dict(model)))
        self.folder = Path(root).expanduser() / _hash(self._model)[:16]
        check_writable(self.folder)
        self._rank = rank
        self._file: io.FileIO | None = None
        self._answers: dict[str, Answer] = {}
        for path in sorted(self.folder.glob("responses*.jsonl")):
            for key, record in read_records(path, self._model):
                self._answers.setdefault(key, record.answer)

    def __len__(self) -> int:
        """Number of answers."""
        return len(self._answers)

    def get(self, key: str) -> Answer | None:
        """The stored answer, or None."""
        return self._answers.get(key)

    def add(self, answers: Iterable[tuple[str, Answer]], asked: Mapping[str, Asked] | None = None) -> None:
        """Stores answers and hands them to the operating system before it returns: a killed process keeps them.

        Args:
            answers: Response keys and answers.
            asked: By response key, what was asked.

        Raises:
            StoreError: They could not be written for minutes; what was added before is kept.
        """
        new = dict(answers)
        if not new:
            return
        about = {key: asdict(found) for key, found in (asked or {}).items()}
        lines = b"".join(_line({"key": key, **asdict(answer), **about.get(key, {})}) for key, answer in new.items())
        deadline = time.monotonic() + _PATIENCE
        while not self._written(lines, len(new), last=time.monotonic() >= deadline):
            time.sleep(_PAUSE)
        self._answers.update(new)

    def _written(self, lines: bytes, count: int, *, last: bool) -> bool:
        """Tries to write; False if that failed and this is not the last trial."""
        try:
            if self._file is not None and not os.fstat(self._file.fileno()).st_nlink:
                log.error("%s was deleted; answers from now on are kept in a new file, those before are gone", self._file.name)
                self.close()
            if self._file is None:
                self._file = self._open()
            _write(self._file, lines)
        except OSError as error:
            told = f"{error.filename or (self._file.name if self._file else self.folder)}: {error.strerror or error}"
            self.close()  # opening it again cuts off what was written of a line
            if last:
                raise StoreError(
                    f"{told}; {count} answers could not be kept for {_PATIENCE / 60:.0f} minutes, so no more are asked for. Make "
                    f"room there and start the same command again: all answers before these are kept and not asked for again"
                ) from error
            log.error("%s; %d answers wait to be kept: make room there, or the run stops", told, count)
            return False
        return True

    def close(self) -> None:
        """Gives the file free; a later :meth:`add` opens one again."""
        if self._file is None:
            return
        file, self._file = self._file, None
        try:
            file.close()
        except OSError as error:  # network file systems say so late that there was no room
            log.error("%s: %s; the last answers may be missing there, and would be asked for again", file.name, error.strerror)

    def _open(self) -> io.FileIO:
        """The first file of this rank that no running process writes to and that is ours, repaired, at its end."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = f"responses-rank{self._rank}"
        n = 1
        while True:
            path = self.folder / (f"{stem}.jsonl" if n == 1 else f"{stem}-{n}.jsonl")
            if path.exists() and not os.access(path, os.W_OK):  # another user's
                n += 1
                continue
            file = path.open("a+b", buffering=0)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with the process, however that ends
            except BlockingIOError:
                n += 1
            except OSError:  # some network file systems have no locks: then a name that nobody else takes
                file.close()
                path = self.folder / f"{stem}-{uuid.uuid4().hex}.jsonl"
                file = path.open("x+b", buffering=0)
                self._repair(file, path)
                return file
            else:
                if self._repair(file, path):
                    return file
                n += 1
            file.close()

    def _repair(self, file: io.FileIO, path: Path) -> bool:
        """Cuts off a broken last line and writes the header of a new file.  False if the file is another model's."""
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if content[:whole] and _parse(content.split(b"\n", 1)[0]) != _header(self._model):
            return False
        if whole and _is_record(content[whole:]):
            _write(file, b"\n")  # an editor took it
        elif whole < len(content):
            log.warning("%s: cut off %d bytes of a broken last line", path, len(content) - whole)
            file.truncate(whole)
        if not whole:
            _write(file, _line(_header(self._model)))
        return True


def _write(file: io.FileIO, content: bytes) -> None:
    """Hands all of it to the operating system, which may take less at a time where room runs out."""
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]


def read_records(path: Path, model: Mapping[str, Any]) -> list[tuple[str, Record]]:
    """Response keys and records of one file of a model; what cannot be read is named in the log.

    Args:
        path: The file.
        model: Identity of the model; a file of another one gives nothing.

    Raises:
        StoreError: The file cannot be read at all.
    """
    with _reading(path):
        lines = path.read_bytes().split(b"\n")
    last = lines.pop()  # empty, unless the writer was killed in the middle of a line or is writing just now
    if _is_record(last):
        lines.append(last)
    elif last:
        log.warning("%s ends in the middle of a line; this answer will be asked for again", path)
    if not lines:
        return []
    if _parse(lines[0]) != _header(model):
        log.warning("%s is not read: its first line does not name this model in format %d", path, FORMAT)
        return []
    records, bad = [], []
    for number, line in enumerate(lines[1:], 2):
        record = _read_record(_parse(line))
        if record is None:
            bad.append(number)
        else:
            records.append(record)
    if bad:
        log.warning("%s: %d lines are no answers and are not read (first: line %d)", path, len(bad), bad[0])
    return records


def read_model(path: Path) -> dict[str, Any] | None:
    """The model whose answers a file holds; None if its first line does not say in this format.

    Raises:
        StoreError: The file cannot be read at all.
    """
    with _reading(path), path.open("rb") as file:
        header = _parse(file.readline())
    if not isinstance(header, dict) or header.get(_HEADER) != FORMAT or not isinstance(header.get("model"), dict):
        return None
    return dict(header["model"])


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Stops where a file cannot be read: to go on would be to ask again for all that stands in it."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be read ({error.strerror or error}); mend its rights, or keep answers elsewhere with "
            f"responses=<folder>"
        ) from error


def _header(model: Mapping[str, Any]) -> dict[str, Any]:
    return {_HEADER: FORMAT, "model": model}


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode() + b"\n"  # ASCII: lone surrogates in answers survive


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_record(line: bytes) -> bool:
    """Whether a line without its end is whole: no part of an object in JSON is one."""
    return _read_record(_parse(line)) is not None


def _read_record(value: Any) -> tuple[str, Record] | None:
    """A stored line as key and record, or None if it is not of that form."""
    if not isinstance(value, dict):
        return None
    key, text, events = value.get("key"), value.get("text"), value.get("events")
    capped, windows = value.get("capped"), value.get("windows")
    if not (isinstance(key, str) and len(key) == 64 and isinstance(text, str) and isinstance(capped, bool)):
        return None
    if not (isinstance(events, list) and all(isinstance(event, str) for event in events)):
        return None
    if not isinstance(windows, int) or isinstance(windows, bool) or windows < 1:
        return None
    asked = None
    if "question" in value or "settings" in value:
        question, settings = value.get("question"), value.get("settings")
        if not (isinstance(question, str) and len(question) == 64 and isinstance(settings, dict)):
            return None
        asked = Asked(question, settings)
    return key, Record(Answer(text, tuple(events), capped, windows), asked)
