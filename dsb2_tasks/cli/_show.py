"""``dsb2 show``: everything that is known about one task or group."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._tasks import TaskName, WrongUse, find_task, open_docs, read_catalog

if TYPE_CHECKING:
    from dsb2_tasks.catalog import Catalog, GroupEntry, TaskEntry
    from dsb2_tasks.sources import Docs

_PICTURES = (".png", ".svg", ".pdf")
_MOST_LABELS = 25

#: What the rows of a group mean.
GROUP_ROWS = {
    "tasks": "how many of its tasks have results",
    "na_rate": "mean over tasks: share of answers in which no value could be read",
    "unparsed_rate": "mean over tasks: share of answers in which no option, or more than one, was found",
    "audio_error_rate": "mean over tasks: share of clips that could not be read or given to the model",
    "relative_improvement": "with a baseline, mean over tasks: by how much the model is better, as a share of its value",
    "relative_improvement_median": "the median over tasks, which one extreme task does not move",
    "relative_improvement_clipped": "the mean with every task bounded to -1 ... 1",
    "kept": "tasks that are in these means",
    "left_out": "tasks whose improvement cannot be counted",
}


@click.command()
@click.argument("name", metavar="TASK|GROUP", type=TaskName(groups=True))
@click.option("--data", metavar="samples|hub|FOLDER", help="Where labels and example come from; the embedded samples by default.")
@click.option("--doc", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the document that is shown.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write waveform and spectrogram of the document's clips (.png, .svg, .pdf).",
)
@click.option("--include_path", multiple=True, type=click.Path(), metavar="FOLDER", help="A further folder with tasks.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(name: str, data: str | None, doc: int, picture: Path | None, include_path: tuple[str, ...], as_json: bool) -> None:
    """Show what a task asks, of what data, and how answers count; or what a group holds.

    \b
    Examples:
      dsb2 show dsb2_emotion_recognition_meld
      dsb2 show dsb2_emotion_recognition_meld --doc 3 --picture clip.png
      dsb2 show dsb2_emotion_recognition_meld --data hub
      dsb2 show dsb2_speech --json
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    from dsb2_tasks.cli import _output

    if picture is not None and picture.suffix.lower() not in _PICTURES:
        raise WrongUse(f"--picture {str(picture)!r}: the name must end in one of {', '.join(_PICTURES)}")
    known = read_catalog(include_path)
    if name in known.groups:
        if data is not None or doc or picture is not None:
            raise WrongUse(f"{name!r} is a group, which has no documents; leave out --data, --doc and --picture")
        found = _group(known.groups[name], known)
        lines = _group_lines(found)
    else:
        task = find_task(name, known)
        found = _facts(task) | _documents(task, data, doc, picture)
        lines = _task_lines(found)
    if as_json:
        _output.show_json(found)
    else:
        _output.show_pairs(lines)


def _facts(task: TaskEntry) -> dict[str, Any]:
    """What the task file says."""
    from dsb2_tasks import hooks, metrics
    from dsb2_tasks.spec import DOMAINS

    spec = task.spec
    measured = [(name, metrics.get(name)) for name in hooks.KINDS[spec.kind].metrics(spec)]
    return {
        "name": task.name,
        "file": str(task.path),
        "version": task.version,
        "tags": list(task.tags),
        "domain_title": DOMAINS[spec.domain][1] if spec.domain in DOMAINS else spec.domain,
        "spec": spec.model_dump(mode="json", exclude_defaults=True),
        "metrics": [
            {
                "name": name,
                "main": name == spec.metric,
                "assumed": name == spec.metric and spec.metric_assumed,
                "higher_is_better": metric.higher_is_better,
                "best": metric.best if math.isfinite(metric.best) else None,
                "unit": metric.unit,
            }
            for name, metric in measured
        ],
        "confidence": spec.confidence,
        "licence": spec.licence,
        "source": spec.source,
    }


def _documents(task: TaskEntry, data: str | None, number: int, picture: Path | None) -> dict[str, Any]:
    """Labels and one document; where there are no embedded samples and none are asked for, the reason."""
    from dsb2_tasks import hooks
    from dsb2_tasks.sources import DataError

    try:
        docs = open_docs(task, data or "samples")
    except DataError as error:
        if data is not None or picture is not None:
            raise
        return {"data": "samples", "labels": None, "example": None, "no_documents": str(error)}
    if number >= len(docs):
        raise WrongUse(f"{task.name} has documents 0 to {len(docs) - 1} in {data or 'samples'}, not {number}")
    texts = [docs.text(index) for index in range(len(docs))]
    options = hooks.close_options(task.spec, texts).options
    labels = [", ".join(text["dsb2_label"]) for text in texts]
    counts = Counter(labels)
    if isinstance(options, tuple) and task.spec.kind == "choice":
        counts = Counter({**dict.fromkeys(options, 0), **counts})
    return {
        "data": data or "samples",
        "labels": {"documents": len(docs), "distinct": len(set(labels)), "counts": dict(counts.most_common())},
        "example": _example(docs, number, picture),
    }


def _example(docs: Docs, number: int, picture: Path | None) -> dict[str, Any]:
    from dsb2_tasks.audio import draw

    doc = docs[number]
    clips, drawn = [], []
    for role, handles in (("clip", doc["audio"]), ("reference", doc.get("dsb2_reference", ()))):
        for position, handle in enumerate(handles):
            facts, decoded = _clip(handle)
            clips.append({"role": role, "column": handle["column"], **facts})
            if decoded is not None:
                drawn.append((f"{docs.place(number)}, {role} {position + 1} ({handle['column']})", *decoded))
    if picture is not None:
        if not drawn:
            raise WrongUse(f"{docs.place(number)} has no clip that could be drawn")
        draw(drawn, picture)
    return {
        "doc": number,
        "place": docs.place(number),
        "prompt": doc["dsb2_prompt"],
        "label": doc["dsb2_label"],
        "language": doc["dsb2_language"],
        "clips": clips,
        **({"picture": str(picture)} if picture else {}),
    }


def _clip(handle: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, int] | None]:
    """What a clip's file says and sounds like, and its samples with their rate; or why it cannot be read."""
    from dsb2_tasks.audio import STORE, AudioError, decode, outline

    try:
        raw = STORE.read(handle)
        samples, rate = decode(raw)
    except AudioError as error:
        return {"error": str(error)}, None
    facts = {
        "file": raw.name,
        "seconds": round(samples.shape[1] / rate, 3),
        "rate": rate,
        "channels": samples.shape[0],
        "peak": round(float(abs(samples).max()), 4),
        "outline": outline(samples),
    }
    return facts, (samples, rate)


def _group(group: GroupEntry, known: Catalog) -> dict[str, Any]:
    members = known.members(group.name)
    return {
        "name": group.name,
        "title": group.spec.title,
        "file": str(group.path),
        "suite": group.spec.suite,
        "groups": {child: len(known.members(child)) for child in group.spec.groups if child in known.groups},
        "tasks": members,
        "rows": GROUP_ROWS | ({group.spec.mean: "mean over tasks, which all count it alike"} if group.spec.mean else {}),
    }


def _group_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    groups = [f"{child} ({count} tasks)" for child, count in found["groups"].items()]
    lines = [("group", f"{found['name']}: {found['title']}"), ("file", found["file"]), ("suite", found["suite"])]
    lines += [*_column("groups", groups), *_column("tasks", found["tasks"])]
    return [*lines, ("", ""), ("its rows", ""), *((f"  {row}", meaning) for row, meaning in found["rows"].items())]


def _column(name: str, texts: list[str]) -> list[tuple[str, str]]:
    return [(name if number == 0 else "", text) for number, text in enumerate(texts)]


def _task_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    spec = found["spec"]
    lines = [
        ("task", found["name"]),
        ("file", f"{found['file']} (version {found['version']})"),
        ("domain", f"{found['domain_title']} ({spec['modality']}), suite {spec.get('suite', 'community')}"),
        ("tags", ", ".join(found["tags"])),
        ("instance", spec.get("instance", "")),
        ("", ""),
        ("kind", spec["kind"]),
        *(("metric" if metric["main"] else "further", _metric_line(metric)) for metric in found["metrics"]),
        ("authors' metric", spec.get("author_metric", "")),
        *_option_lines(spec),
        ("prompt", spec.get("prompt") or f"column {spec.get('instruction', 'instruction')!r}"),
        ("context", ", ".join(spec.get("context", ()))),
        ("", ""),
        *_column("data", [_source_line(source) for source in spec["data"]]),
        ("documents", str(spec.get("rows", "not known"))),
        ("licence", found["licence"]),
        ("confidence", found["confidence"]),
        ("facts from", found["source"]),
        ("replaced", ", ".join(spec.get("replaced", ()))),
        ("note", spec.get("note", "")),
        ("citation", spec.get("citation", "")),
    ]
    lines = [(name, text) for name, text in lines if text or not name]
    if found["example"] is None:
        return [*lines, ("", ""), ("example", f"none: {found['no_documents']}")]
    return [*lines, ("", ""), *_label_lines(found), ("", ""), *_example_lines(found)]


def _metric_line(metric: dict[str, Any]) -> str:
    best = "" if metric["best"] is None else f", best {metric['best']:g}"
    direction = "higher" if metric["higher_is_better"] else "lower"
    assumed = " [assumed: only the name of the authors' metric is known]" if metric["assumed"] else ""
    return f"{metric['name']} ({direction} is better{best}; {metric['unit']}){assumed}"


def _option_lines(spec: dict[str, Any]) -> list[tuple[str, str]]:
    options = spec.get("options")
    if options is None:
        return []
    if isinstance(options, str):
        return [("options", "the labels of the data")]
    aliases = spec.get("aliases", {})
    shown = [f"{option} (or {', '.join(aliases[option])})" if option in aliases else option for option in options]
    return _column("options", shown)


def _source_line(source: dict[str, Any]) -> str:
    parts = [source.get("config"), source.get("split", "test"), source.get("language")]
    revision = source.get("revision", "main, not pinned")
    return f"{source['path']} ({', '.join(part for part in parts if part)}), revision {revision}"


def _label_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    labels = found["labels"]
    head = f"{labels['distinct']} different ones in {labels['documents']} documents of {found['data']}"
    if found["data"] == "samples":
        head += " (synthetic, not the real distribution)"
    if labels["distinct"] > _MOST_LABELS or max(labels["counts"].values()) == 1:
        return [("labels", head)]
    return [("labels", head), *(("", f"{count:>6}  {label or '(none)'}") for label, count in labels["counts"].items())]


def _example_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    example = found["example"]
    lines = [("example", f"{example['doc']}: {example['place']}"), ("  prompt", example["prompt"])]
    lines += [("  label", ", ".join(example["label"]) or "audio")]
    for clip in example["clips"]:
        if "error" in clip:
            lines.append((f"  {clip['role']}", f"cannot be read: {clip['error']}"))
            continue
        channels = f"{clip['channels']} channel{'' if clip['channels'] == 1 else 's'}"
        facts = f"{clip['file']}: {clip['seconds']:g} s, {clip['rate']} Hz, {channels}, peak {clip['peak']:g}"
        lines += [(f"  {clip['role']}", facts), ("", f"|{clip['outline']}|")]
    return lines + ([("  picture", example["picture"])] if "picture" in example else [])
