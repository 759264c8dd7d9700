"""The report of the gallery is small, marked, and names nothing of the machine that made it."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_gallery_is_small_and_says_what_it_is(repository: Path) -> None:
    folder = repository / "examples" / "report_gallery"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "report.html").stat().st_size < 2_000_000
    assert "Sample data: these are not results." in page
    assert '<h1 id="overview">Gallery: simulated systems on sample data</h1>' in page
    assert page.count('<details class="task"') == 180
    assert page.count("<audio") > 20
    assert not re.search(r"/(home|tmp|root)/", page)
    assert "Sample data: these are not results" in (folder / "report.md").read_text(encoding="utf-8")
    assert "simulated answers: these are not results" in (folder / "README.md").read_text(encoding="utf-8")
