"""Where rows come from: the hub at a pinned revision, a folder, or the embedded samples.

:func:`open_rows` is the only entrance.  It returns the text columns of one split and an object that reads the bytes of
one clip when asked; no clip is read or decoded by opening.  :func:`plan` and :func:`fetch` bring hub data sets to this
machine ahead of a run.
"""

from dsb2_tasks.sources._docs import Docs
from dsb2_tasks.sources._open import check_data, open_rows
from dsb2_tasks.sources._prefetch import Remote, fetch, free_bytes, label, plan
from dsb2_tasks.sources._rows import DataError, Rows

__all__ = ["DataError", "Docs", "Remote", "Rows", "check_data", "fetch", "free_bytes", "label", "open_rows", "plan"]
