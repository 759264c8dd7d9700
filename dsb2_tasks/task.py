"""``DSB2Task``: the class that every task file names.

It opens the data, hands out documents with handles in place of audio, and turns what a hook counted into the numbers
that lm-eval aggregates.  What is evaluated stands in the YAML; how an answer is read stands in :mod:`dsb2_tasks.hooks`.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import logging
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from lm_eval.api.task import ConfigurableTask

from dsb2_tasks import catalog, hooks
from dsb2_tasks.baseline import Baseline, BaselineError, read_baseline
from dsb2_tasks.metrics import Row
from dsb2_tasks.results import as_json
from dsb2_tasks.scorer import Scorer
from dsb2_tasks.scoring import RULES, Rule
from dsb2_tasks.sources import DataError, Docs, open_rows
from dsb2_tasks.spec import EXTRA_SUITE, OFFICIAL_SUITE, SpecError, read_spec

log = logging.getLogger(__name__)

#: Keys of ``--metadata`` that this class reads; everything else there belongs to lm-eval and to models.
_SETTINGS = ("data", "bad_labels", "baseline", "relative_rule", "baseline_force")
_HOOKS = ("doc_to_text", "doc_to_audio", "doc_to_target", "process_results")
#: Environment variable that names a baseline, as ``--metadata baseline=...`` does.
BASELINE = "DSB2_BASELINE"
_SAMPLE_WARNING = "SAMPLE DATA: a few synthetic clips per task that ship with dsb2-tasks; the numbers are no benchmark results"


class _Value:
    """Aggregation of one number: rows of all documents to a value; total, so that a run never dies at its end."""

    def __init__(self, name: str, scorer: Scorer, seen: dict[str, Sequence[Row | None]]) -> None:
        self._name, self._scorer, self._seen = name, scorer, seen

    def __call__(self, rows: Sequence[Row | None]) -> Any:
        self._seen[self._name] = rows  # lm-eval sums up in order, so what this number needs of others was seen before
        return as_json(self._scorer.value(self._name, self._seen))

    def __repr__(self) -> str:
        return f"{self._name} of the summed statistics"


class SamplesError(ValueError):
    """``--samples`` names documents that the task does not have, or one twice."""


class _StandardError:
    """Aggregation of ``<metric>_stderr``: lm-eval gives custom metrics no standard error, so it rides as a second metric.

    Its own rows are empty; it reads those that its metric was given just before (lm-eval keeps their order).
    """

    def __init__(self, name: str, scorer: Scorer, seen: dict[str, Sequence[Row | None]]) -> None:
        self._name, self._scorer, self._seen = name, scorer, seen

    def __call__(self, _: Sequence[None]) -> float | str:
        error = self._scorer.stderr(self._name, self._seen)
        return error if math.isfinite(error) else "N/A"

    def __repr__(self) -> str:
        return f"standard error of {self._name}"


class DSB2Task(ConfigurableTask):
    """One Dynamic-SUPERB task (or one of the same form) for lm-eval.

    ``--metadata`` keys: ``data`` = ``hub`` (default), ``samples`` or a folder; ``bad_labels`` = ``error`` (default) or
    ``skip``, what to do with rows whose label has not the shape that the task states; ``baseline`` (also :data:`BASELINE` in
    the environment) = what a relative improvement is over, as :func:`dsb2_tasks.baseline.read_baseline` reads it, with
    ``relative_rule`` = one of :data:`dsb2_tasks.scoring.RULES` and ``baseline_force`` = true to compare in spite of a mismatch.
    """

    MULTIMODAL = True
    OUTPUT_TYPE = "generate_until"

    def __init__(self, config: dict[str, Any]) -> None:
        """Builds the task from its YAML mapping with functions resolved and run-time metadata merged in.

        Raises:
            SpecError: The task file is wrong.
            DataError: The data cannot be opened or do not fit the task.
        """
        metadata = dict(config.get("metadata") or {})
        origin = Path(str(metadata.get("config_source") or config.get("task")))
        config = catalog.complete(config, origin)
        self.name = catalog.name_of(config, origin)
        self.spec = read_spec(config, origin)
        self._labels_are_options = self.spec.options == "labels"
        self.kind = hooks.KINDS[self.spec.kind]
        try:
            self.kind.metrics(self.spec)
        except SpecError as error:
            raise SpecError(f"{origin}: {error}") from None
        _refuse_near_misses(metadata)
        self.data = str(metadata.get("data", "hub"))
        self._bad_labels = str(metadata.get("bad_labels", "error"))
        if self._bad_labels not in ("error", "skip"):
            raise DataError(f"bad_labels={self._bad_labels!r} is neither 'error' nor 'skip' (in --metadata bad_labels=...)")
        self._base = origin.parent
        own = {k: v for k, v in config.items() if k not in ("class", "dsb2", "dsb2_base", "dsb2_template", "tag", "include")}
        for key in _HOOKS:
            own[key] = _resolve(own.get(key), key, origin)
        self._score = _checked_hook(own.pop("process_results"), origin)
        if own.get("filter_list") is not None:
            raise SpecError(f"{origin}: filter_list: a filter would rewrite the record of a broken clip too; use process_results")
        own.update(
            dataset_path=self.spec.data[0].path,
            test_split=self.spec.data[0].split,
            metric_list=[],
            metadata={**metadata, "dsb2": {**self.spec.model_dump(mode="json", exclude_defaults=True), "read_from": self.data}},
        )
        self._instances: list[Any] | None = None  # lm-eval sets it only where requests are built
        super().__init__(config=own)
        if self.data == "samples" and not all(source.is_local for source in self.spec.data):
            self.VERSION: str = f"{self.config.metadata.get('version', 0)}-samples"
            _warn_once(_SAMPLE_WARNING)
        self.scorer = Scorer(
            self.name,
            self.spec,
            str(self.VERSION),
            hook=self._score,
            baseline=_baseline(metadata),
            rule=_rule(metadata),
            force=bool(metadata.get("baseline_force", False)),
        )
        self.scorer.try_hook(self._docs[0])
        self._seen: dict[str, Sequence[Row | None]] = {}
        for name, higher_is_better in self.scorer.directions.items():
            self._metric_fn_list[name] = None
            self._aggregation_list[name] = _Value(name, self.scorer, self._seen)
            self._higher_is_better[name] = higher_is_better
            self._aggregation_list[f"{name}_stderr"] = _StandardError(name, self.scorer, self._seen)

    @property
    def has_baseline(self) -> bool:
        """Whether this run compares with a baseline."""
        return self.scorer.has_baseline

    @property
    def left_out(self) -> str | None:
        """After the run: why the relative improvement of this task is not counted; None if it is."""
        return self.scorer.improvement(self._seen).reason if self._seen else "the task was not scored"

    def download(self, dataset_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Opens the data sets of the task as one and checks the shape of every label; called once by lm-eval."""
        parts = [open_rows(source, self.data, self._base, self.name) for source in self.spec.data]
        self._docs = Docs(self.name, self.spec, parts)
        self.spec = hooks.close_options(self.spec, [self._docs.text(i) for i in range(len(self._docs))])
        self._guard_labels()
        self.dataset = {self.spec.data[0].split: self._docs}

    def _guard_labels(self) -> None:
        """Refuses labels of another shape than the task states, before a model is asked anything."""
        good, faults = [], []
        for index in range(len(self._docs)):
            try:
                self.kind.read_label(self._docs.text(index), self.spec)
                good.append(index)
            except hooks.LabelError as error:
                faults.append(f"{self.name}: {self._docs.place(index)}: {error}")
        if not faults:
            return
        summary = f"{len(faults)} of {len(self._docs)} labels have another shape than the task file states; first: {faults[0]}"
        if self._bad_labels == "error" or not good:
            official = self.spec.suite in (OFFICIAL_SUITE, EXTRA_SUITE)
            why = f"The task table is a reconstruction (confidence here: {self.spec.confidence}). " if official else ""
            raise DataError(
                f"{summary}\n{why}Correct the data, or dsb2.kind, dsb2.options or dsb2.label in "
                f"{self.config.metadata['config_source']}, or leave such rows out with --metadata bad_labels=skip"
            )
        log.warning("%s (left out)", summary)
        self._docs.keep(good)

    def test_docs(self) -> Docs:
        """The documents; made on access, never held together."""
        return self._docs

    def doc_iterator(
        self, *, rank: int = 0, limit: int | None = None, world_size: int = 1, samples: list[int] | None = None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Documents of one rank as ``(number, document)``; touches no document of another rank.

        With ``samples`` the number counts within that list, in the order given, which is how lm-eval maps it back.  Those that
        were asked about are not made again: lm-eval keeps the requests, and all samples, to the end of a run.
        """
        chosen = self._chosen(limit, samples)
        asked = {request.doc_id: request.doc for request in self._instances or ()}
        for number in range(int(rank), len(chosen), int(world_size)):
            yield number, asked[number] if number in asked else self._docs[chosen[number]]

    def _chosen(self, limit: int | None, samples: list[int] | None) -> Sequence[int]:
        """Places of the documents of this run, of all ranks."""
        total = len(self._docs)
        if not samples:
            return range(total if limit is None else min(int(limit), total))
        outside = [s for s in samples if not 0 <= s < total]
        if outside:
            raise SamplesError(f"{self.name}: --samples names {outside}, the task has documents 0 to {total - 1}")
        if twice := sorted({s for s in samples if samples.count(s) > 1}):
            raise SamplesError(f"{self.name}: --samples names {twice} twice; a document counts once")
        return list(samples)

    def build_all_requests(
        self,
        *,
        limit: int | None = None,
        samples: list[int] | None = None,
        rank: int = 0,
        world_size: int = 1,
        cache_requests: bool = False,
        **kwargs: Any,
    ) -> None:
        """Builds the requests; ``--cache_requests`` is not followed, since its key names neither data nor revision.

        lm-eval stops on a rank that has no document.  Where there are fewer documents than ranks, such a rank asks the question
        of another one once more; it scores none, for :meth:`doc_iterator` gives it none.
        """
        if cache_requests:
            log.warning("%s: --cache_requests is ignored: it would mix up data sets, and building takes no time here", self.name)
        busy = min(world_size, len(self._chosen(limit, samples))) or 1
        self._instances = None  # those of an evaluation before this one may be of other documents
        super().build_all_requests(
            limit=limit, samples=samples, rank=rank % busy, world_size=world_size, cache_requests=False, **kwargs
        )

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Scores one answer.

        Returns:
            A row of statistics, or None for "not counted", for every metric of the task, always the same keys.
        """
        if "bypass" in self._metric_fn_list:  # --predict_only
            return {"bypass": 0}
        rows = self.scorer.rows(str(results[0]), doc)
        result: dict[str, Any] = {}
        for name, row in rows.items():
            result[name] = row
            result[sys.intern(f"{name}_stderr")] = None  # lm-eval keeps the names with every sample
        return result

    def dump_config(self) -> dict[str, Any]:
        """The configuration for the results file: hooks by name, so that two runs write the same (lm-eval writes addresses).

        lm-eval asks for it after it has summed up, so what has no place among the numbers stands here, in ``dsb2_run``.
        """
        config = {key: _by_name(value) for key, value in asdict(self.config).items() if value is not None}
        told = self.scorer.told(self._seen) if self._seen else {}
        if self._labels_are_options:  # which options there were follows from the whole split, not from what was logged
            told["options"] = list(self.spec.options or ())
        if told:
            config["metadata"] = {**config["metadata"], "dsb2_run": told}
        return config


def _resolve(value: Any, key: str, origin: Path) -> Any:
    """A hook as a function: lm-eval has resolved ``!function`` already, a template filled in by the catalogue has not."""
    if callable(value) or value is None:
        return value
    module, _, name = str(value).rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataError(f"{origin}: {key}: {value!r} is no function that can be imported ({error})") from None


def _refuse_near_misses(metadata: dict[str, Any]) -> None:
    """Refuses ``dta=samples``: lm-eval puts model arguments there too, so only what looks like ours can be told to be wrong."""
    for key in metadata:
        near = difflib.get_close_matches(key, _SETTINGS, n=1, cutoff=0.75)
        if near and key not in _SETTINGS:
            raise DataError(f"--metadata {key}=...: unknown key; did you mean {near[0]!r}?")


def _baseline(metadata: dict[str, Any]) -> Baseline | None:
    """The baseline that ``--metadata baseline=...`` or :data:`BASELINE` names; read once for all tasks."""
    where = metadata.get("baseline") or os.environ.get(BASELINE)
    if not where:
        return None
    baseline = read_baseline(str(where))
    for caveat in baseline.caveats:
        _warn_once(f"baseline {baseline.name}: {caveat}")
    return baseline


def _rule(metadata: dict[str, Any]) -> Rule:
    rule = metadata.get("relative_rule", RULES[0])
    if rule not in RULES:
        raise BaselineError(f"relative_rule={rule!r} is none of {', '.join(RULES)} (in --metadata relative_rule=...)")
    return rule  # type: ignore[no-any-return]  # one of the literals


def _by_name(value: Any) -> Any:
    if callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, dict):
        return {key: _by_name(item) for key, item in value.items()}
    return [_by_name(item) for item in value] if isinstance(value, list | tuple) else value


def _checked_hook(hook: Any, origin: Path) -> Any:
    """A scoring hook, refused at load time rather than after the model was asked.

    Raises:
        SpecError: It is no function of three arguments.
    """
    if callable(hook):
        try:
            inspect.signature(hook).bind("answer", {}, None)
            return hook
        except TypeError:
            pass
    raise SpecError(
        f"{origin}: process_results: a function (answer, doc, spec) -> dsb2_tasks.hooks.Scored is needed, found {hook!r}"
    )


@lru_cache(maxsize=64)
def _warn_once(message: str) -> None:
    """What concerns all tasks of a run is said once."""
    log.warning("%s", message)
