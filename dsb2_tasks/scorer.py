"""``Scorer``: everything between the answers to one task and its numbers, with or without lm-eval.

A run and a re-scoring of its saved answers go through this one class, so that equal rules give equal results, bit for bit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dsb2_tasks import __version__, hooks, metrics
from dsb2_tasks.audio import AudioError, read_failure
from dsb2_tasks.baseline import Baseline, BaselineError
from dsb2_tasks.hooks import Scored
from dsb2_tasks.metrics import Metric, Row
from dsb2_tasks.results import document_key, fault_in_rows, finite
from dsb2_tasks.scoring import Improvement, Measured, Rule, numbered, unusable_baseline
from dsb2_tasks.spec import SpecError, TaskSpec

IMPROVEMENT = "relative_improvement"
Hook = Callable[[str, Mapping[str, Any], TaskSpec], Scored]
Rows = Sequence[Row | None]


class Scorer:
    """Counts the answers to one task and sums them up."""

    def __init__(
        self,
        task: str,
        spec: TaskSpec,
        version: str,
        *,
        hook: Hook | None = None,
        baseline: Baseline | None = None,
        rule: Rule = "paper",
        force: bool = False,
        extra: Sequence[str] = (),
    ) -> None:
        """Settles which numbers the task gives.

        Args:
            task: Name of the task.
            spec: Its specification, with the options settled (:func:`dsb2_tasks.hooks.close_options`).
            version: Its version, with ``-samples`` for sample data.
            hook: Reads and counts one answer; the kind's own by default.
            baseline: What a relative improvement is over.
            rule: Which recipe of relative improvement.
            force: Whether to compare in spite of another task version, metric or source of data.
            extra: Further metrics, whose rows come from elsewhere (a judge).

        Raises:
            SpecError: The kind cannot count a metric of the task.
            BaselineError: The baseline was made under other conditions, or its rows are broken.
            ResultsError: The logged samples of the baseline cannot be read.
        """
        self.task, self.spec, self.version = task, spec, version
        self.kind = hooks.KINDS[spec.kind]
        self._hook = hook or self.kind.score
        self._is_own = hook is not None and hook is not getattr(hooks, spec.kind)
        self.metrics = {metric.name: metric for metric in (*self._declared(), *map(metrics.get, extra))}
        self._baseline, self._rule = baseline, rule
        self._forced = self._check_baseline(force)
        #: The metric that is compared with the baseline; None where no relative improvement can come about.
        self.compared = None if baseline is None else baseline.compared(task, spec, self.metrics)
        if self.compared is not None and baseline is not None and unusable_baseline(baseline.entries[task].measured):
            self.compared = None
        if self.compared is not None and baseline is not None:
            baseline.rows(task, self.compared)  # read now: broken ones must not end a run at its end

    def _declared(self) -> list[Metric]:
        primary = metrics.get(self.spec.metric)
        declared = [metrics.get(name) for name in self.kind.metrics(self.spec)]
        if self.kind.na:
            declared += [metrics.scaled(primary), metrics.get("na_rate")]
        elif self.kind.parsed:
            declared.append(metrics.get("unparsed_rate"))
        if self.spec.has_audio:
            declared.append(metrics.get("audio_error_rate"))
        return declared

    def _check_baseline(self, force: bool) -> list[str]:
        if self._baseline is None:
            return []
        faults = self._baseline.mismatches(self.task, self.version, self.spec)
        if faults and not force:
            raise BaselineError(
                f"{self.task}: baseline {self._baseline.origin!r} was made under other conditions: {'; '.join(faults)}. Make one "
                f"under the same, or compare all the same with --metadata baseline_force=true, which the results will say"
            )
        return faults

    @property
    def has_baseline(self) -> bool:
        """Whether there is a baseline, whatever it holds."""
        return self._baseline is not None

    @property
    def directions(self) -> dict[str, bool]:
        """Whether higher is better, by the name of every number that the task gives."""
        found = {name: metric.higher_is_better for name, metric in self.metrics.items()}
        return {**found, IMPROVEMENT: True} if self.compared is not None else found

    def rows(self, answer: str, doc: Mapping[str, Any]) -> dict[str, Row | None]:
        """Counts one answer.

        Args:
            answer: What the model said, or the record of a failure of the tool.
            doc: The document.

        Returns:
            A row of statistics, or None for "not counted", for every number of the task: always the same names.
        """
        failure = read_failure(answer)
        scored = None
        if failure is None:
            try:
                scored = self._hook(answer, doc, self.spec)
            except AudioError as error:  # of a reference clip: that is no fault of the answer either
                failure = ("audio_error", error.reason)
        rows: dict[str, Row | None] = dict.fromkeys(self.metrics)
        if self.spec.has_audio:
            rows["audio_error_rate"] = (0.0, "ok") if failure is None else (1.0, failure[1])
        if scored is not None:
            if self._is_own:
                self._check_scored(scored)
            rows.update(scored.statistics)
            primary = self.spec.metric
            if self.kind.na:
                missing = scored.statistics[primary] is None
                rows["na_rate"] = (float(missing), scored.status)
                rows[f"{primary}_scaled"] = (float(missing), *(scored.statistics[primary] or ()))
            elif "unparsed_rate" in rows:
                rows["unparsed_rate"] = (float(scored.status != "ok"), scored.status)
        if self.compared is not None:
            rows[IMPROVEMENT] = (document_key(doc),)  # which document of the baseline this is
        return rows

    def _check_scored(self, scored: Any) -> None:
        """Refuses what a task's own hook gives if it could not be summed up, which would end a run at its very end.

        Raises:
            SpecError: It is no :class:`Scored` with rows of the task's metrics.
        """
        names = self.kind.metrics(self.spec)
        if not isinstance(scored, Scored):
            raise SpecError(f"{self.task}: process_results gives {scored!r:.100}; a dsb2_tasks.hooks.Scored is needed")
        if set(scored.statistics) != set(names) or not isinstance(scored.status, str):
            found = ", ".join(map(str, scored.statistics)) or "none"
            raise SpecError(
                f"{self.task}: process_results gives rows of {found}; rows of {', '.join(names)} and a status are needed"
            )
        for name, row in scored.statistics.items():
            fault = f"{row!r:.100} is no tuple" if not (row is None or isinstance(row, tuple | list)) else None
            if fault is None and (found_in := fault_in_rows({name: [row]})):
                fault = found_in[2]
            if fault is not None:
                raise SpecError(f"{self.task}: process_results: row of {name}: {fault}")

    def try_hook(self, doc: Mapping[str, Any]) -> None:
        """Has a hook of the task's own count the right answer to a document and an empty one, before a model is asked.

        Raises:
            SpecError: It fails, or gives what cannot be summed up.
        """
        if not self._is_own:
            return
        for answer in (self.kind.reference_answer(doc, self.spec), ""):
            try:
                self.rows(answer, doc)
            except SpecError:
                raise
            except Exception as error:
                told = f"{type(error).__name__}: {error}"
                raise SpecError(
                    f"{self.task}: process_results fails on the answer {answer!r:.100} to the first document ({told})"
                ) from error

    def value(self, name: str, rows: Mapping[str, Rows]) -> float:
        """One number from the rows of all documents; total, so that no run dies at its end."""
        if name == IMPROVEMENT:
            return self.improvement(rows).value
        return float(self.metrics[name].aggregate(rows[name]))

    def stderr(self, name: str, rows: Mapping[str, Rows]) -> float:
        """Its standard error; nan where it is not defined."""
        if name == IMPROVEMENT:
            return self.improvement(rows).stderr
        return float(self.metrics[name].stderr(rows[name]))

    def improvement(self, rows: Mapping[str, Rows]) -> Improvement:
        """The relative improvement over the baseline, or why there is none."""
        if self._baseline is None:
            return Improvement(math.nan, math.nan, "no baseline was named")
        entry = self._baseline.entries.get(self.task)
        if entry is None:
            return Improvement(math.nan, math.nan, self._baseline.why_missing(self.task))
        if self.compared is None:
            why = unusable_baseline(entry.measured) or f"the task does not count {entry.metric!r}"
            return Improvement(math.nan, math.nan, why)
        metric = self.compared
        plain = self.metrics[metric.name.removesuffix("_scaled")]
        na = self.metrics["na_rate"].aggregate(rows["na_rate"]) if "na_rate" in self.metrics else 0.0
        own = Measured(
            value=metric.aggregate(rows[metric.name]),
            plain=plain.aggregate(rows[plain.name]),
            na_rate=na,
            stderr=metric.stderr(rows[metric.name]),
        )
        keys = [str(row[0]) for row in rows[IMPROVEMENT] if row is not None]
        return self._baseline.over(self.task, metric, own, rows[metric.name], keys, self._rule)

    def told(self, rows: Mapping[str, Rows]) -> dict[str, Any]:
        """What the results file says beside numbers: how answers were read, and what the improvement is over."""
        told: dict[str, Any] = {"statuses": self._statuses(rows), "dsb2_tasks": __version__}
        if self._baseline is not None:
            entry = self._baseline.entries.get(self.task)
            told["left_out"] = self.improvement(rows).reason
            told["baseline"] = {"name": self._baseline.name, "origin": self._baseline.origin, "rule": self._rule}
            if entry is not None:
                measured = {"value": entry.measured.value, "na_rate": entry.measured.na_rate, "stderr": entry.measured.stderr}
                told["baseline"] |= {name: finite(number) for name, number in measured.items()}
                told["baseline"] |= {"metric": entry.metric, "version": entry.version, "source": entry.source}
                if self.compared is not None and entry.samples[0]:  # a baseline of other documents is to be seen
                    own = numbered([str(row[0]) for row in rows[IMPROVEMENT] if row is not None])
                    shared = len(set(own) & set(numbered(entry.samples[0])))
                    told["baseline"] |= {"documents": len(entry.samples[0]), "shared_documents": shared}
            if self._forced:
                told["baseline"]["forced"] = self._forced
        return told

    def _statuses(self, rows: Mapping[str, Rows]) -> dict[str, int]:
        """How answers were read, with counts, most frequent first."""
        failed = sum(1 for row in rows.get("audio_error_rate", ()) if row is not None and row[0])
        rate = next((name for name in ("na_rate", "unparsed_rate") if name in self.metrics), self.spec.metric)
        counts = Counter(str(row[1]) if rate.endswith("_rate") else "ok" for row in rows.get(rate, ()) if row is not None)
        if failed:
            counts["audio_error"] = failed
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
