"""Matcher beside judge: what is right is for the metric to say, whatever its rows hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from _saved import saved

from dsb2_tasks import catalog, hooks
from dsb2_tasks.judge import CHOICE_KINDS, Verdict
from dsb2_tasks.rescore import Judged, Rules, agreement_of, from_run, score
from dsb2_tasks.rescore._answered import open_task
from dsb2_tasks.results import read_run

KNOWN = catalog.read_catalog([catalog.yaml_root()]).tasks
#: One task for each metric that compares answers which a judge accepts or rejects.
TASKS = {entry.spec.metric: name for name, entry in KNOWN.items() if entry.spec.kind in CHOICE_KINDS and name.startswith("dsb2_")}


@pytest.mark.parametrize("metric", TASKS)
def test_right_and_wrong_answers_are_told_apart(tmp_path: Path, metric: str) -> None:
    spec, _, docs = open_task(KNOWN[TASKS[metric]], "samples")
    right = [hooks.KINDS[spec.kind].reference_answer(docs[i], spec) for i in range(len(docs))]
    yes, no = Verdict("accepted"), Verdict("rejected")
    for answers, verdict, cell in ((right, yes, "both_right"), (["Hm."] * len(docs), no, "both_wrong")):
        file = saved(tmp_path / cell, {TASKS[metric]: answers})
        scores = score(from_run(read_run(file)), Rules())
        found = agreement_of(scores, Judged({}, {TASKS[metric]: [verdict] * len(docs)}))[TASKS[metric]]
        assert getattr(found, cell) == found.counted == len(docs)
