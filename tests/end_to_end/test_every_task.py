"""Every task of the suite, one by one, on its embedded samples: what a perfect and what a silly answer score."""

from __future__ import annotations

import importlib.util
import json
import logging
import math
from functools import lru_cache
from typing import Any

import pytest

from dsb2_tasks import catalog, compat, metrics
from dsb2_tasks.audio import STORE, AudioPolicy, check_handle, failure, prepare
from dsb2_tasks.spec import EXTRA_SUITE, GENERATION_SUITE, OFFICIAL_SUITE

KNOWN = catalog.read_catalog([catalog.yaml_root()])
OFFICIAL = [name for name, task in KNOWN.tasks.items() if task.spec.suite == OFFICIAL_SUITE]
EXTRA = [name for name, task in KNOWN.tasks.items() if task.spec.suite == EXTRA_SUITE]
#: Tasks with audio as output.
GENERATION = [name for name, task in KNOWN.tasks.items() if task.spec.suite == GENERATION_SUITE]
ALL = [*OFFICIAL, *EXTRA, *GENERATION]
#: How near the reference comes to the best value; how far a mixture can be improved depends on it.
NEAR = {"si_sdri": 10.0}
NONSENSE = [
    "",
    " ",
    "qwxz",
    "I am sorry, but I cannot listen to audio.",
    "\x00\u200b\ud83d",
    "[]{}()::,,;",
    "<think>maybe",
    "NaN inf -1e999",
    "?" * 2000,
]


@lru_cache(maxsize=4)
def task(name: str) -> Any:
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    manager = compat.task_manager([catalog.yaml_root()], {"data": "samples"})
    return manager.load([name])["tasks"][name]


def total(one: Any, answers: list[str]) -> dict[str, float]:
    """Aggregated metrics of one answer a document, as lm-eval computes them."""
    rows = [one.process_results(doc, [answer]) for doc, answer in zip(one.test_docs(), answers, strict=True)]
    aggregation = one.aggregation()
    return {name: aggregation[name]([row[name] for row in rows]) for name in rows[0]}


def test_there_are_180_and_seven_and_five() -> None:
    assert (len(OFFICIAL), len(EXTRA), len(GENERATION)) == (180, 7, 5)
    assert set(ALL) == set(KNOWN.tasks)


@pytest.mark.parametrize("name", ALL)
def test_task(name: str) -> None:
    for library in ("pesq", "pystoi", "pyworld") if name in GENERATION else ():
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed: extra 'generation'")
    one = task(name)
    docs = list(one.test_docs())
    assert len(docs) >= 4
    assert str(one.VERSION).endswith("-samples")
    for doc in docs:
        json.dumps(doc)
        assert not any(isinstance(value, bytes) for value in doc.values())
        prompt = one.doc_to_text(doc)
        assert str(doc.get("instruction", "")).strip() in prompt and prompt.strip()
        assert len(one.doc_to_audio(doc)) == len(one.spec.audio)
        for handle in one.doc_to_audio(doc):
            check_handle(handle)
            assert STORE.info(handle).seconds > 0
        for column in one.spec.hidden:
            assert column not in doc
    for handle in docs[0]["audio"]:
        (clip,) = prepare(handle, AudioPolicy())
        assert clip.rate == 16000 and clip.samples.ndim == 1

    references = [one.kind.reference_answer(doc, one.spec) for doc in docs]
    best = total(one, references)
    primary = metrics.get(one.spec.metric)
    assert best[primary.name] == pytest.approx(primary.best, abs=NEAR.get(primary.name, 1e-6)), best
    assert best.get("na_rate", 0.0) == 0.0 and best.get("unparsed_rate", 0.0) == 0.0
    if "audio_error_rate" in best:
        assert best["audio_error_rate"] == 0.0
    for answer in NONSENSE:
        worse = total(one, [answer] * len(docs))
        assert all(isinstance(v, float) or v == "N/A" for v in worse.values())
        if one.kind.na and worse["na_rate"] == 1.0:
            assert math.isnan(worse[primary.name])
        else:
            assert worse[primary.name] != pytest.approx(primary.best, abs=1e-9), (answer, worse)


@pytest.mark.parametrize("name", OFFICIAL[::15])
def test_a_failure_of_the_tool_is_not_an_answer(name: str) -> None:
    one = task(name)
    docs = list(one.test_docs())
    answers = [one.kind.reference_answer(doc, one.spec) for doc in docs]
    answers[0] = failure("audio_error", "broken")
    scores = total(one, answers)
    primary = metrics.get(one.spec.metric)
    assert scores["audio_error_rate"] == pytest.approx(1 / len(docs))
    if one.spec.metric not in ("pcc", "srcc", "ccc"):  # three rows may be too few for a correlation
        assert scores[primary.name] == pytest.approx(primary.best, abs=1e-6)
    nothing = total(one, [failure("audio_error", "broken")] * len(docs))
    assert math.isnan(nothing[primary.name]) and nothing["audio_error_rate"] == 1.0
