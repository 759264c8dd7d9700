"""Two runs of one model at once, on one store."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

from _fault_runs import Place, go_on, run, saying


def test_two_runs_at_once_and_a_third_that_asks_nothing(whole: Place, tmp_path: Path) -> None:
    places = [Place(tmp_path / name) for name in ("one", "two", "three")]
    shared = tmp_path / "shared"
    shared.mkdir()
    for place in places:
        place.root.mkdir()
        place.responses.symlink_to(shared)
    children = [run(place, pause=0.05, batch=1) for place in places[:2]]
    deadline = time.monotonic() + 120
    while not all(place.all_asked() for place in places[:2]) and time.monotonic() < deadline:
        time.sleep(0.002)
    assert all(child.wait() == 0 for child in children), [child.said() for child in children]
    for place in places[:2]:
        assert place.results() == whole.results() and place.samples() == whole.samples()
        assert Counter(place.all_asked()) == Counter(whole.stored().keys()), "they began with nothing, so each asked by itself"
    files = sorted(shared.rglob("*.jsonl"))
    assert [file.name for file in files] == ["responses-rank0-2.jsonl", "responses-rank0.jsonl"]
    for file in files:
        header, *records = map(json.loads, file.read_text().splitlines())
        assert "model" in header
        assert {record["key"]: record["text"] for record in records} == {key: saying(key) for key in whole.stored()}
    go_on(places[2], whole)
    assert places[2].all_asked() == [] and not Path(shared / "responses-rank0-3.jsonl").exists()
