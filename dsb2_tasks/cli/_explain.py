"""``dsb2 explain``: how one answer is read and counted, step by step."""

from __future__ import annotations

import json
import re
from itertools import cycle
from typing import IO, TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._output import plain
from dsb2_tasks.cli._tasks import TaskName, WrongUse, find_task, open_docs, read_catalog
from dsb2_tasks.results import finite

if TYPE_CHECKING:
    from dsb2_tasks.catalog import TaskEntry
    from dsb2_tasks.spec import TaskSpec

#: Pieces of an answer in which options and numbers are looked for; the rest is scored, but not listed.
_MOST_PIECES = 5000
#: Kinds of which a rule finds the words that are meant, the whole answer aside.
_TEXTS = ("transcript", "phonemes", "translation", "text")
_PIECE = re.compile(r"[^\s,;:/]+")
_NUMBER_PIECE = re.compile(r"[-+−]?\d[\d.,:]*|[^\W\d_]+")


@click.command()
@click.argument("task", type=TaskName())
@click.option("--answer", metavar="TEXT", help="What a model answered; the reference answer by default.")
@click.option(
    "--answer-file", type=click.File(encoding="utf-8", errors="replace"), help="A file that holds the answer; - for stdin."
)
@click.option("--doc", type=click.IntRange(min=0), help="Number of the document, 0 by default.")
@click.option("--data", metavar="samples|hub|FOLDER", help="Where documents come from; the embedded samples by default.")
@click.option("--label", metavar="TEXT", multiple=True, help="A label in place of a document; no data set is opened.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(
    task: str,
    answer: str | None,
    answer_file: IO[str] | None,
    doc: int | None,
    data: str | None,
    label: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show how one answer to TASK is read and counted.

    With --label no data set is opened, but for tasks whose options are the labels of their data: these are read from --data.
    """
    if answer is not None and answer_file is not None:
        raise WrongUse("--answer and --answer-file are both given; which one is meant?")
    if label and doc is not None:
        raise WrongUse("--label stands in place of a document; leave out --doc")
    from dsb2_tasks.hooks import LabelError

    entry = _find(task)
    if label and data is not None and entry.spec.options != "labels":
        raise WrongUse("--label opens no data; leave out --data")
    document, spec = _document(entry, doc or 0, data or "samples", label)
    given = answer_file.read() if answer_file is not None else answer
    found = {"task": entry.name, "doc": None if label else doc or 0, "data": document.pop("dsb2_place")}
    try:
        found |= _explanation(document, spec, given)
    except LabelError as error:
        raise click.ClickException(f"{entry.name}: {found['data']}: {error}") from error
    click.echo(json.dumps(found, allow_nan=False) if as_json else "\n".join(_lines(found)))


def _find(name: str) -> TaskEntry:
    from dsb2_tasks import catalog

    entry = find_task(name, read_catalog())
    reader = catalog.complete(catalog.load_config(entry.path), entry.path).get("process_results")
    if reader != f"dsb2_tasks.hooks.{entry.spec.kind}":
        raise WrongUse(f"{entry.path}: answers are read by {reader!r}, of which only its author knows the steps")
    return entry


def _document(entry: TaskEntry, number: int, data: str, label: tuple[str, ...]) -> tuple[dict[str, Any], TaskSpec]:
    """The document that is asked about, or one of a label alone; and the specification with its options settled."""
    from dsb2_tasks import hooks

    spec = entry.spec
    docs: list[dict[str, Any]] = []
    places: list[str] = []
    if not label or spec.options == "labels":
        rows = open_docs(entry, data)
        docs = [rows.text(index) for index in range(len(rows))]
        places = [f"{'embedded samples of ' if data == 'samples' else ''}{rows.place(index)}" for index in range(len(rows))]
    if not label and number >= len(docs):
        raise WrongUse(f"{entry.name} has documents 0 to {len(docs) - 1}, not {number}")
    if label:
        language = spec.data[0].language or spec.language
        docs.append({"dsb2_prompt": spec.prompt, "dsb2_label": list(label), "dsb2_language": language})
        places.append("no document, only a label")
    if spec.reference_audio and not label:
        docs[number] = rows[number]  # with its clips: the answer is compared with them
    chosen = -1 if label else number
    return {**docs[chosen], "dsb2_place": places[chosen]}, hooks.close_options(spec, docs)


def _explanation(doc: dict[str, Any], spec: TaskSpec, given: str | None) -> dict[str, Any]:
    from dsb2_tasks import hooks, metrics, parse
    from dsb2_tasks.audio import read_failure

    kind = hooks.KINDS[spec.kind]
    reference = kind.read_label(doc, spec)
    answer = kind.reference_answer(doc, spec) if given is None else given
    failure = read_failure(answer)
    if failure is None:
        scored = kind.score(answer, doc, spec)
    else:  # as the task has it: nobody answered, nothing is counted
        scored = hooks.Scored(dict.fromkeys(kind.metrics(spec)), failure[0], None)
    cleaned = parse.clean(answer)
    return {
        "kind": spec.kind,
        "prompt": doc["dsb2_prompt"],
        "label": list(doc["dsb2_label"]),
        "reference": reference,
        "options": spec.options,
        "answer": answer,
        "answer_is_reference": given is None,
        "cleaned": cleaned,
        "candidates": _candidates(cleaned, scored.value, spec),
        "rule": _rule(answer, spec),
        "status": scored.status,
        "value": scored.value,
        "statistics": scored.statistics,
        "metrics": {
            name: {
                "value": None if row is None else finite(metrics.get(name).aggregate([row])),
                "fields": metrics.get(name).fields,
                "higher_is_better": metrics.get(name).higher_is_better,
                "best": metrics.get(name).best,
                "primary": name == spec.metric,
                "assumed": name == spec.metric and spec.metric_assumed,
            }
            for name, row in scored.statistics.items()
        },
    }


def _rule(answer: str, spec: TaskSpec) -> str | None:
    """By which rule an option, or the words of a text, were found, or why none were; other kinds have one rule each."""
    from dsb2_tasks import parse

    if spec.kind == "choice" and isinstance(spec.options, tuple):
        return parse.choose_option(answer, spec.options, aliases=spec.aliases, letters=spec.letters)[1]
    return parse.extract_transcript(answer)[1] if spec.kind in _TEXTS else None


def _candidates(text: str, value: Any, spec: TaskSpec) -> list[Any]:
    """What an answer may mean before a rule decides.

    Options and numbers that stand in it, each as ``{"text": as written, "value": what that says}``, negated ones and those
    of a stated scale too; of a transcript its clean profile; of anything else what was parsed.
    """
    from dsb2_tasks import parse

    if spec.kind in ("choice", "labels") and isinstance(spec.options, tuple):
        return _options_in(text, spec.options, spec.aliases)
    if spec.kind == "number":
        unit = spec.number.unit if spec.number else None
        pieces = dict.fromkeys(piece.strip(".,:") for piece in _NUMBER_PIECE.findall(text)[:_MOST_PIECES])
        read = [{"text": piece, "value": parse.extract_number(piece, unit=unit)[0]} for piece in pieces]
        return [number for number in read if number["value"] is not None]
    if spec.kind in _TEXTS:
        words = parse.extract_transcript(text)[0]
        return [] if words is None else [words]
    return list(value) if isinstance(value, (list, tuple)) else []


def _options_in(text: str, options: tuple[str, ...], aliases: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """Every run of words that is a wording of an option, longest first from each place, none inside of another."""
    from dsb2_tasks import parse

    forms = [*options, *(alias for group in aliases.values() for alias in group)]
    longest = max(len(re.findall(r"[A-Z]?[^\W_A-Z]+|\S", form)) for form in forms)
    pieces = [match.span() for match in _PIECE.finditer(text)][:_MOST_PIECES]
    found: dict[tuple[str, str], None] = {}
    at = 0
    while at < len(pieces):
        for end in range(min(at + longest, len(pieces)), at, -1):
            run = text[pieces[at][0] : pieces[end - 1][1]]
            option = parse.match_option(run, options, aliases=aliases)
            if option is not None:
                found[run, option] = None
                at = end - 1
                break
        at += 1
    return [{"text": run, "value": option} for run, option in found]


def _lines(found: dict[str, Any]) -> list[str]:
    """The explanation for a terminal; texts quoted, as an answer may hold anything."""
    options = found["options"]
    lines = [("task", f"{found['task']} ({found['kind']})"), ("document", _place(found))]
    lines += [("prompt", repr(found["prompt"]) if found["prompt"] is not None else "not known without a document")]
    lines += [("options", _shortened(", ".join(map(repr, options))))] if options else []
    lines += [("label", ", ".join(map(repr, found["label"]))), ("read as", repr(found["reference"])), ("", "")]
    lines += [("answer", repr(_shortened(found["answer"])) + (" (the reference answer)" if found["answer_is_reference"] else ""))]
    lines += [("cleaned", repr(_shortened(found["cleaned"])))]
    candidates = [f"{c['value']!r} ({c['text']!r})" if isinstance(c, dict) else repr(c) for c in found["candidates"]]
    lines += [("candidates", _shortened(", ".join(candidates)) or "none")]
    lines += [("rule", found["rule"])] if found["rule"] else []
    lines += [("status", found["status"]), ("value", repr(found["value"])), ("", "")]
    for name, row in found["statistics"].items():
        metric = found["metrics"][name]
        if row is None:
            shown = "not counted"
        else:
            counts = ", ".join(f"{field} {_short(entry)}" for field, entry in zip(cycle(metric["fields"]), row))
            shown = f"{_short(metric['value'])} (best {_short(metric['best'])}) from {counts}"
        lines.append((name, shown + (" [assumed: only the name of the authors' metric is known]" if metric["assumed"] else "")))
    width = max(len(name) for name, _ in lines)
    return [f"{name:<{width}}  {plain(text)}".rstrip() for name, text in lines]


def _place(found: dict[str, Any]) -> str:
    return found["data"] if found["doc"] is None else f"{found['doc']}: {found['data']}"


def _shortened(text: str) -> str:
    return text if len(text) <= 1000 else f"{text[:1000]} ..."


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "undefined" if value is None else str(value)
