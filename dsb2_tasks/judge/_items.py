"""From a task's answer to an item, and from its verdict to rows of the task's metrics."""

from __future__ import annotations

from dsb2_tasks.audio import read_failure
from dsb2_tasks.hooks import KINDS, Doc, Scored
from dsb2_tasks.judge._contracts import CHOICE_KINDS, contract_for
from dsb2_tasks.judge._types import JudgeItem, Verdict
from dsb2_tasks.metrics import Row
from dsb2_tasks.parse import clean
from dsb2_tasks.spec import TaskSpec

#: Metric of the kinds whose answers are accepted or rejected, rows (1 or 0,).
ACCURACY = "judge_accuracy"
#: Share of answers with a usable verdict, rows (1 or 0,).
COVERAGE = "judge_coverage"


def item_for(spec: TaskSpec, doc: Doc, answer: str) -> JudgeItem | None:
    """What a judge is asked about one answer.

    Args:
        spec: The task's specification, with options settled (:func:`dsb2_tasks.hooks.close_options`).
        doc: The document: ``dsb2_prompt``, ``dsb2_label`` and ``dsb2_language``.
        answer: The model's answer as it came.

    Returns:
        The item; None if the answer is the record of a failure (a broken clip), about which no judge can say anything.

    Raises:
        JudgeError: The task's kind is not judged.
        LabelError: The label has another shape than the task states.
    """
    contract_for(spec.kind)
    if read_failure(answer) is not None:
        return None
    kind = KINDS[spec.kind]
    if spec.kind in CHOICE_KINDS:
        read = kind.read_label(doc, spec)
        reference = (read,) if isinstance(read, str) else tuple(read)
    else:
        reference = tuple(map(str, doc["dsb2_label"]))
    return JudgeItem(
        kind=spec.kind,
        instruction=str(doc["dsb2_prompt"] or ""),
        reference=reference,
        answer=clean(answer),
        options=spec.options if isinstance(spec.options, tuple) else None,
        number=spec.number,
        reads=lambda text: kind.read_answer(text, doc, spec)[0] is not None,
    )


def judged_rows(spec: TaskSpec, doc: Doc, verdict: Verdict | None) -> Scored:
    """Rows of statistics that follow from a verdict.

    A verdict that is unusable or failed gives None for every metric but ``judge_coverage``, whose row is (0,): it takes the
    answer out of values and N/A rate alike, and never counts for or against it.

    Args:
        spec: The task's specification.
        doc: The document.
        verdict: The judge's; None where there was no item (a failure of the tool): no row at all.

    Returns:
        For kinds that are accepted or rejected, rows of ``judge_accuracy``; for the others the extracted text counted by the
        task's own kind: rows of ``judge_<metric>`` for each of its metrics, of ``judge_<primary>_scaled`` and of
        ``judge_na_rate``.  ``judge_coverage`` in both.  The names are always the same for a task, and
        :func:`dsb2_tasks.metrics.get` knows them.  Status: ``ok``, ``na:judge`` or the verdict's.
    """
    accepts = spec.kind in CHOICE_KINDS
    names = () if accepts else tuple(KINDS[spec.kind].metrics(spec))
    counted = (ACCURACY,) if accepts else tuple(f"judge_{name}" for name in (*names, f"{spec.metric}_scaled", "na_rate"))
    rows: dict[str, Row | None] = dict.fromkeys((*counted, COVERAGE))
    if verdict is None:
        return Scored(rows, "failed", None)
    rows[COVERAGE] = (float(verdict.usable),)
    if not verdict.usable:
        return Scored(rows, verdict.status, None)
    if accepts:
        rows[ACCURACY] = (float(verdict.status == "accepted"),)
        return Scored(rows, "ok", verdict.status)
    if verdict.value is None:
        scored = Scored(dict.fromkeys(names), "na:judge", None)
    else:
        scored = KINDS[spec.kind].score(verdict.value, doc, spec)
    rows |= {f"judge_{name}": row for name, row in scored.statistics.items()}
    primary = scored.statistics[spec.metric]
    rows[f"judge_{spec.metric}_scaled"] = (float(primary is None), *(primary or ()))
    rows["judge_na_rate"] = (float(primary is None), scored.status)
    return Scored(rows, scored.status, scored.value)
