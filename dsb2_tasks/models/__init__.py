"""Backends: they turn text and audio handles into answers, and know no task.

The classes behind ``--model`` are named in :data:`dsb2_tasks.plugin.MODELS` and imported when asked for.
"""

from dsb2_tasks.models._responses import Answer, ResponseStore, response_key

__all__ = ["Answer", "ResponseStore", "response_key"]
