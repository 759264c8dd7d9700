"""What the columns and labels of a data set tell about a task over it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dsb2_tasks import catalog, hooks
from dsb2_tasks.authoring._text import write_text
from dsb2_tasks.hooks import LabelError
from dsb2_tasks.sources import DataError, Docs, Rows, open_rows
from dsb2_tasks.spec import DOMAINS, DataSource, SpecError, TaskSpec, read_spec

#: Names of the column with the right answer, likely ones first, after ``label`` and the names of the kind.
_LABELS = ("labels", "answer", "target", "reference", "class", "category")
_LABELS_OF_KIND = {
    "transcript": ("transcription", "transcript", "text", "sentence", "words"),
    "phonemes": ("phonemes", "phones"),
    "translation": ("translation", "target_text"),
    "number": ("value", "score", "count", "number"),
}
_INSTRUCTIONS = ("instruction", "prompt", "question", "query")
#: Beginnings of the names of clips that are the right answer (kind ``waveform``).
_REFERENCE_CLIPS = ("label", "reference", "ref", "target", "clean", "source")
#: More options than this are not listed but read from the labels.
_MOST_OPTIONS = 30
#: A kind's usual domain is taken where this share of the suite's tasks of that kind agrees.
_AGREED = 0.9


class AuthoringError(ValueError):
    """A task file cannot be written; the message says what to add."""


@dataclass(frozen=True)
class Wishes:
    """What the author states; None is guessed where the data tell it.

    Attributes:
        source: A folder, or a data set of the hub.
        kind: Output kind.
        name: Task name.
        modality: speech, music or audio.
        domain: One of the 17, or a name of one's own.
        metric: Primary metric.
        label: Column with the right answer.
        prompt: Fixed instruction for data without one.
        language: ISO 639-1 code.
        split: Split that is evaluated.
        config: Configuration (subset) of the data set.
        data: Where a hub data set is read from: ``hub``, ``samples`` or a folder.
        out: File to write.
    """

    source: str
    kind: str
    name: str | None = None
    modality: str | None = None
    domain: str | None = None
    metric: str | None = None
    label: str | None = None
    prompt: str | None = None
    language: str | None = None
    split: str = "test"
    config: str | None = None
    data: str = "hub"
    out: Path | None = None


@dataclass
class Draft:
    """A task file that is not written yet.

    Attributes:
        path: Where it belongs.
        text: The YAML.
        guesses: What was guessed, in words.
        rows: Rows of the data.
    """

    path: Path
    text: str
    rows: int
    guesses: list[str] = field(default_factory=list)


def draft(wishes: Wishes) -> Draft:
    """Looks at data and writes a task for them.

    Raises:
        AuthoringError: Something must be stated that the data do not tell.
        DataError: The data cannot be opened.
    """
    local = wishes.source.startswith((".", "/", "~")) or Path(wishes.source).is_dir()
    name = wishes.name or re.sub(r"\W+", "_", Path(wishes.source).expanduser().resolve().name).strip("_").lower()
    if not catalog.is_task_name(name):
        raise AuthoringError(f"--name {name!r}: use letters, digits, '_', '-' and '.' alone")
    path = wishes.out or (Path(wishes.source).expanduser().parent if local else Path()) / f"{name}.yaml"
    try:
        source = DataSource(path=_path(wishes, local, path), split=wishes.split, config=wishes.config)
    except ValidationError as error:
        raise AuthoringError(f"{wishes.source!r:.80}: {error.errors()[0]['msg'].removeprefix('Value error, ')}") from None
    try:
        rows = open_rows(source, wishes.data, path.parent, name)
    except DataError as error:
        if local:
            raise
        raise DataError(f"{wishes.source!r} is no folder here, so it was taken for a data set of the hub. {error}") from error
    if len(rows) == 0:
        raise AuthoringError(f"{wishes.source}: split {wishes.split!r} has no rows")
    guesses: list[str] = []
    block: dict[str, Any] = {"kind": wishes.kind, "metric": _metric(wishes)}
    block |= _domain(wishes, guesses)
    block |= _audio(wishes, rows, guesses)
    instruction = _instruction(wishes, rows, guesses)
    block |= instruction
    block["data"] = [source.model_dump(exclude_defaults=True)]
    if wishes.language is not None:
        block["language"] = wishes.language
    if wishes.kind != "waveform":
        taken = instruction.get("instruction", "instruction") if "prompt" not in instruction else None
        block |= _label(wishes, rows, block, taken, name, guesses)
    shown = {block.get("instruction", "instruction"), block.get("label", "label")}
    others = [column for column in rows.columns if column not in shown]
    return Draft(path, write_text(name, block, guesses, others), len(rows), guesses)


def _path(wishes: Wishes, local: bool, out: Path) -> str:
    if not local:
        return wishes.source
    folder, home = Path(wishes.source).expanduser().resolve(), out.resolve().parent
    if not folder.is_relative_to(home) or folder == home:
        raise AuthoringError(f"--out {out}: the task file must lie in a folder above its data, which are in {folder}")
    return f"./{folder.relative_to(home).as_posix()}"


def _metric(wishes: Wishes) -> str:
    rows = hooks.KINDS[wishes.kind].rows
    if wishes.metric is None:
        return str(catalog.template(wishes.kind)["dsb2_template"]["metric"])
    if wishes.metric not in rows:
        raise AuthoringError(f"--metric {wishes.metric!r}: kind {wishes.kind!r} counts {', '.join(sorted(rows))}")
    return wishes.metric


def _domain(wishes: Wishes, guesses: list[str]) -> dict[str, str]:
    domain = wishes.domain
    if domain is None:
        known = catalog.read_catalog([catalog.yaml_root()]).tasks.values()
        counts = Counter(task.spec.domain for task in known if task.spec.kind == wishes.kind and task.spec.domain in DOMAINS)
        usual = counts.most_common(1)
        if not usual or usual[0][1] < _AGREED * counts.total():
            raise AuthoringError(
                f"--domain is needed, as kind {wishes.kind!r} is of many: one of {', '.join(DOMAINS)}, or your own"
            )
        domain = usual[0][0]
        guesses.append(f"domain {domain}, as of most tasks of kind {wishes.kind}")
    modality = wishes.modality or (DOMAINS[domain][0] if domain in DOMAINS else None)
    if modality is None:
        raise AuthoringError(f"--modality is needed (speech, music or audio), as domain {domain!r} is none of the 17")
    return {"modality": modality, "domain": domain}


def _audio(wishes: Wishes, rows: Rows, guesses: list[str]) -> dict[str, list[str]]:
    columns = list(rows.audio_columns)
    if not columns:
        raise AuthoringError(f"{wishes.source}: no audio column; its columns are {', '.join(rows.columns) or 'none'}")
    references = [c for c in columns if wishes.kind == "waveform" and c.lower().startswith(_REFERENCE_CLIPS)]
    heard = [column for column in columns if column not in references]
    if wishes.kind == "waveform":
        if not references:
            raise AuthoringError(
                f"{wishes.source}: no clip is named as the right answer; name its column {', '.join(_REFERENCE_CLIPS)} or alike "
                f"(audio columns: {', '.join(columns)})"
            )
        guesses.append(f"reference_audio {', '.join(references)}, by name")
        return {"audio": heard, "reference_audio": references}
    if heard == ["audio"]:
        return {}
    if len(heard) > 1:
        guesses.append(f"a model hears {', '.join(heard)}, in this order")
    return {"audio": heard}


def _instruction(wishes: Wishes, rows: Rows, guesses: list[str]) -> dict[str, str]:
    if wishes.prompt is not None:
        return {"prompt": wishes.prompt}
    found = next((column for column in _INSTRUCTIONS if column in rows.columns), None)
    if found is None:
        raise AuthoringError(
            f"--prompt is needed: no column {' or '.join(_INSTRUCTIONS)} (text columns: {', '.join(rows.columns) or 'none'})"
        )
    if found == "instruction":
        return {}
    guesses.append(f"instruction column {found!r}, by name")
    return {"instruction": found}


def _label(wishes: Wishes, rows: Rows, block: dict[str, Any], taken: str | None, name: str, guesses: list[str]) -> dict[str, Any]:
    """The label column, and what its labels tell: options, or the form of a number."""
    columns = [column for column in rows.columns if column != taken]
    if wishes.label is not None:
        if wishes.label not in rows.columns:
            raise AuthoringError(
                f"--label {wishes.label!r}: there is no such column; text columns: {', '.join(rows.columns) or 'none'}"
            )
        candidates = [wishes.label]
    else:
        likely = [c for c in ("label", *_LABELS_OF_KIND.get(wishes.kind, ()), *_LABELS) if c in columns]
        candidates = likely or (columns if len(columns) == 1 else [])
    refused = []
    for column in candidates:
        try:
            found = _fit(rows, {**block, "label": column}, name)
        except (DataError, SpecError) as error:
            refused.append(f"{column}: {error}")
            continue
        if wishes.label is None:
            guesses.append(f"label column {column!r}, {'by name' if likely else 'the only one left'}")
        return {**found, **({} if column == "label" else {"label": column})}
    if refused:
        raise AuthoringError(f"no label fits kind {wishes.kind!r}: {' | '.join(refused)}")
    raise AuthoringError(f"--label is needed: which column holds the right answer? Text columns: {', '.join(columns) or 'none'}")


def _fit(rows: Rows, block: dict[str, Any], name: str) -> dict[str, Any]:
    """What the labels of a column tell, if all of them can be read.

    Raises:
        DataError, SpecError: They cannot be.
    """
    closed = block["kind"] in ("choice", "labels")
    spec = read_spec({"dsb2": {**block, **({"options": "labels"} if closed else {})}}, name)
    docs = Docs(name, spec, [rows])
    texts = [docs.text(index) for index in range(len(docs))]
    spec = hooks.close_options(spec, texts)
    for index, doc in enumerate(texts):
        try:
            hooks.KINDS[spec.kind].read_label(doc, spec)
        except LabelError as error:
            raise DataError(f"{docs.place(index)}: {error}") from None
    return _told_by(spec, [label for doc in texts for label in doc["dsb2_label"]])


def _told_by(spec: TaskSpec, labels: list[str]) -> dict[str, Any]:
    if isinstance(spec.options, tuple):
        return {"options": list(spec.options) if len(spec.options) <= _MOST_OPTIONS else "labels"}
    if spec.kind == "number" and all(re.fullmatch(r"\s*-?\d+\s*", label) for label in labels):
        return {"number": {"integer": True}}
    return {}
