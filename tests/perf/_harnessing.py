"""What a run over the suite with many documents keeps in memory, and what the harness takes for each request."""

from __future__ import annotations

from tests.perf._remembering import probe
from tests.perf._size import Size
from tests.perf._table import Goal, Row


def rows(size: Size) -> list[Row]:
    """Memory of all samples logged; time of requests, scoring and logging beside lm-eval's own."""
    ours, plain = (
        probe("_suite_probe", mode, str(size.tasks), str(documents))
        for mode, documents in (("ours", size.documents), ("plain", size.plain))
    )
    what = f"memory, {size.tasks} tasks x {size.documents} documents"
    text = f"{size.tasks} plain text tasks of lm-eval x {size.plain}"
    own, theirs = (1e3 * found["seconds"] / found["requests"] for found in (ours, plain))
    found = [
        Row(what, ours["growth"], ours["audio_mb"], "MB", "files of the same clips held as bytes", Goal("ours", 250)),
        Row(
            "harness, of one request", own, theirs, "ms", text, Goal("more", 1.0), "requests, scoring, logging; on the processor"
        ),
    ]
    return [*found, Row(what, ours["growth"], plain["growth"], "MB", text)] if size.plain == size.documents else found
