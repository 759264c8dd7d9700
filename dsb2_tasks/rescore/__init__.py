"""Scores again, without a model: from the samples of a run, from a response store, or from answers made elsewhere.

Whatever the source, answers become :class:`Answered` documents and go through the same :class:`dsb2_tasks.scorer.Scorer` as in
a run, so equal rules give equal results.  No audio is decoded but that of tasks whose reference is audio.
"""

from __future__ import annotations

from dsb2_tasks.rescore._answered import Answered, AnswersError, Document
from dsb2_tasks.rescore._files import from_answers
from dsb2_tasks.rescore._judged import Judged, agreement_of, judge_answers, judge_items
from dsb2_tasks.rescore._run import from_run
from dsb2_tasks.rescore._score import Rules, Scores, leaves, score
from dsb2_tasks.rescore._store import from_store
from dsb2_tasks.rescore._write import check_target, write_results

__all__ = [
    "Answered",
    "AnswersError",
    "Document",
    "Judged",
    "Rules",
    "Scores",
    "agreement_of",
    "check_target",
    "from_answers",
    "from_run",
    "from_store",
    "judge_answers",
    "judge_items",
    "leaves",
    "score",
    "write_results",
]
