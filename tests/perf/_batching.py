"""Batches of a tiny model over clips as long as the suite's samples are."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import torch

from dsb2_tasks import catalog
from dsb2_tasks.audio import STORE
from dsb2_tasks.sources import Docs, open_rows
from dsb2_tasks.spec import OFFICIAL_SUITE
from tests.perf import bench_models
from tests.perf._audio_load import make_model
from tests.perf._size import Size
from tests.perf._table import Goal, Row

_TOKENS = 4


def rows(size: Size) -> list[Row]:
    """Padding over all samples; time over some of them."""
    seconds = sample_lengths()
    some = random.Random(0).sample(seconds, size.batched)
    with tempfile.TemporaryDirectory() as folder:
        loaded = make_model(Path(folder), "tiny", bench_models.CPU, torch.float32)
    waste = bench_models.padding(seconds)
    order = bench_models.order(loaded, some, _TOKENS, size.starts)
    ahead = bench_models.prefetch(loaded, size.batched, _TOKENS)
    eight = bench_models.batch(loaded, size.batched, _TOKENS)
    by_data = "batches in the order of the data"
    pad = [100 * waste[name] for name in ("padding_by_length", "padding_in_order")]
    tiny = f"tiny model, {size.batched} clips"
    return [
        Row(f"padding, {len(seconds)} samples in batches of 8", *pad, "%", by_data, Goal("ratio", 1.0)),
        Row("batches by length", order["seconds_by_length"], order["seconds_in_order"], "s", by_data, None, tiny),
        Row("batches of 8", eight["seconds_eight"], eight["seconds_one"], "s", "one at a time", None, tiny),
        Row("decoding beside the model", ahead["seconds_on"], ahead["seconds_off"], "s", "one after the other", None, tiny),
    ]


def sample_lengths() -> list[float]:
    """Seconds of audio of every embedded sample that has any, in the order of tasks."""
    known = catalog.read_catalog([catalog.yaml_root()])
    found = []
    for name in known.tasks_of(OFFICIAL_SUITE, None):
        entry = known.tasks[name]
        for doc in Docs(name, entry.spec, [open_rows(source, "samples", entry.path.parent, name) for source in entry.spec.data]):
            if doc["audio"]:
                found.append(sum(STORE.info(handle).seconds for handle in doc["audio"]))
    return found
