"""Backends: they turn text and audio handles into answers, and know no task.

The classes behind ``--model`` are named in :data:`dsb2_tasks.plugin.MODELS` and imported when asked for.
"""

from dsb2_tasks.models._cache import cache_folder, store_folder
from dsb2_tasks.models._responses import Answer, ResponseStore, StoreError, question_key, response_key, unwritable
from dsb2_tasks.models._stored import StoredAnswers, stored_answers

__all__ = [
    "Answer",
    "ResponseStore",
    "StoreError",
    "StoredAnswers",
    "cache_folder",
    "question_key",
    "response_key",
    "store_folder",
    "stored_answers",
    "unwritable",
]
