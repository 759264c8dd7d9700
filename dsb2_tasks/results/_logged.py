"""lm-eval's files of logged samples, read and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dsb2_tasks.audio import read_failure
from dsb2_tasks.metrics import Row
from dsb2_tasks.results._check import fault_in_rows
from dsb2_tasks.results._run import ResultsError, Sample
from dsb2_tasks.results._values import document_key, read_json

#: Answers may be clips in base64, some MB each; this keeps a wrong file from filling the memory.
_LONGEST_LINE = 128 * 2**20
#: What lm-eval writes in place of statistics where nothing was to be scored (--predict_only).
_BYPASS = "bypass"


def samples_file(results: Path, task: str) -> Path:
    """The file of a task's samples beside a results file, as lm-eval names it."""
    return results.with_name(f"samples_{task}_{results.stem.removeprefix('results_')}.jsonl")


def read_samples(file: Path, expected: int) -> list[Sample]:
    """The samples of a file in document order; none if there is no such file.

    Args:
        file: The file.
        expected: How many documents the results file counts; 0 if it does not say.

    Raises:
        ResultsError: A line is no sample, a document stands there twice, or there are more or fewer than the results count.
    """
    if not file.is_file():
        return []
    samples: dict[int, Sample] = {}
    lines: dict[int, int] = {}
    for number, line in _lines(file):
        try:
            sample = _sample(read_json(line))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise ResultsError(f"{file}: line {number} is no logged sample ({reason[:300]})") from None
        if sample.doc_id in samples:
            raise ResultsError(
                f"{file}: line {number}: document {sample.doc_id} stands there twice (before: line {lines[sample.doc_id]})"
            )
        samples[sample.doc_id], lines[sample.doc_id] = sample, number
    if expected and len(samples) != expected:
        raise ResultsError(f"{file}: holds {len(samples)} documents, the results file counts {expected}; it is not whole")
    ordered = [samples[number] for number in sorted(samples)]
    names = dict.fromkeys(name for sample in ordered for name in sample.rows)
    if fault := fault_in_rows({name: [sample.rows.get(name) for sample in ordered] for name in names}):
        name, place, why = fault
        raise ResultsError(f"{file}: line {lines[ordered[place].doc_id]} is no logged sample ({name}: {why})")
    return ordered


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with file.open("rb") as lines:
            number = 0
            while line := lines.readline(_LONGEST_LINE + 1):
                number += 1
                if len(line) > _LONGEST_LINE:
                    raise ResultsError(f"{file}: line {number} is longer than {_LONGEST_LINE >> 20} MB, as no logged sample is")
                yield number, line
    except OSError as error:
        raise ResultsError(f"{file}: cannot be read ({error.strerror or error})") from None


def _sample(record: dict[str, Any]) -> Sample:
    doc, doc_id, answer = record["doc"], record["doc_id"], record["filtered_resps"][0]
    if not isinstance(answer, str) or not isinstance(doc, dict):
        raise TypeError("the document is no object, or the answer no text")
    if not isinstance(doc_id, int) or isinstance(doc_id, bool) or doc_id < 0:
        raise TypeError(f"doc_id: a number of a document is needed, found {doc_id!r}")
    names = record["metrics"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"metrics: a list of names is needed, found {names!r}")
    rows = {name: _row(record[name]) for name in names if name != _BYPASS and not name.endswith("_stderr")}
    first = record["arguments"]["gen_args_0"]
    audio = doc.get("audio") or []
    if not isinstance(audio, list) or not all(isinstance(handle, dict) for handle in audio):
        raise TypeError(f"audio: a list of clips is needed, found {audio!r}")
    return Sample(
        doc_id=doc_id,
        doc_hash=str(record["doc_hash"]),
        key=document_key(doc),
        prompt=str(first["arg_0"]),
        target=str(record["target"]),
        answer=answer,
        status=_status(answer, rows),
        audio=tuple(audio),
        rows=rows,
        doc=doc,
    )


def _row(value: Any) -> Row | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise TypeError(f"a row of statistics is needed, found {value!r}")
    return tuple(value)


def _status(answer: str, rows: Mapping[str, Row | None]) -> str:
    failed = read_failure(answer)
    if failed is not None:
        return failed[0]
    for rate in ("na_rate", "unparsed_rate"):
        row = rows.get(rate)
        if row is not None and len(row) > 1:
            return str(row[1])
    return "ok"
