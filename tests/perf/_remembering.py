"""Memory of a run over long clips."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.perf._size import Size
from tests.perf._table import Goal, Row

RATE = 16_000
_ROOT = Path(__file__).parents[2]
_OURS = """
task: memory
class: !function dsb2_tasks.task.DSB2Task
dsb2:
  kind: transcript
  metric: wer
  modality: speech
  domain: speech_recognition
  data: [{path: ../set}]
"""
_VANILLA = """
task: memory
dataset_path: parquet
dataset_kwargs: {{data_files: {{test: {file}}}}}
output_type: generate_until
test_split: test
doc_to_text: "{{{{instruction}}}}"
doc_to_target: label
doc_to_audio: [audio]
generation_kwargs: {{until: []}}
metric_list: [{{metric: exact_match}}]
"""


def write_clips(folder: Path, clips: int, seconds: int) -> None:
    """A parquet file of noise as the hub stores clips, and a task file for either way of reading it."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import soundfile

    noise = np.random.default_rng(0).normal(0, 0.05, (seconds + 1) * RATE).astype(np.float32)
    cell = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    features = {"audio": {"_type": "Audio", "sampling_rate": RATE}}
    features |= {name: {"dtype": "string", "_type": "Value"} for name in ("instruction", "label")}
    schema = pa.schema([("audio", cell), ("instruction", pa.string()), ("label", pa.string())])
    schema = schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    file = folder / "set" / "test-00000-of-00001.parquet"
    file.parent.mkdir(parents=True)
    with pq.ParquetWriter(file, schema) as writer:
        for first in range(0, clips, 20):
            cells = []
            for number in range(first, min(first + 20, clips)):
                buffer = io.BytesIO()
                soundfile.write(buffer, noise[number * 40 : number * 40 + seconds * RATE], RATE, format="FLAC")
                cells.append({"bytes": buffer.getvalue(), "path": f"{number}.flac"})
            text = {"instruction": ["Write down the words."] * len(cells), "label": ["some words"] * len(cells)}
            writer.write_table(pa.table({"audio": pa.array(cells, cell), **text}, schema))
    for mode, config in (("ours", _OURS), ("vanilla", _VANILLA.format(file=file))):
        (folder / mode).mkdir()
        (folder / mode / "memory.yaml").write_text(config)


def probe(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Any:
    """What a probe printed.

    Raises:
        RuntimeError: It ended with an error.
    """
    done = subprocess.run(
        [sys.executable, "-m", f"tests.perf.{module}", *arguments],
        cwd=_ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **(environment or {})},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} {' '.join(arguments)}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def rows(size: Size) -> list[Row]:
    """Growth and peak."""
    number, seconds = size.clips
    with tempfile.TemporaryDirectory() as folder:
        write_clips(Path(folder), number, seconds)
        own = {"HF_DATASETS_CACHE": f"{folder}/cache"}
        ours, theirs, note = probe("_memory_probe", "ours", folder, environment=own), {}, "anonymous memory"
        if (ours["n"], ours["answers"]) != (number, [str(seconds * RATE)]):
            raise RuntimeError(f"not every clip was heard: {ours}")
        try:
            theirs = probe("_memory_probe", "vanilla", folder, environment=own)
        except RuntimeError as error:  # it needs torchcodec and ffmpeg; anything else is our fault
            if "torchcodec" not in str(error):
                raise
            note = str(error)
    name = "lm-eval with datasets decoding in doc_to_audio"
    return [
        Row(f"memory, {number} clips of {seconds} s, {what}", ours[what], theirs.get(what), "MB", name, Goal("ours", 50), note)
        for what in ("growth", "peak")
    ]
