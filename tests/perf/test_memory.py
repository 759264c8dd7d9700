"""No audio in memory before its batch: 200 clips of 30 seconds, measured against lm-eval's own way in the same run."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile as sf

CLIPS, SECONDS, RATE = 200, 30, 16000
PROBE = Path(__file__).with_name("_memory_probe.py")

OURS = """
task: memory
class: !function dsb2_tasks.task.DSB2Task
dsb2:
  kind: transcript
  metric: wer
  modality: speech
  domain: speech_recognition
  data: [{path: ../set}]
"""
VANILLA = """
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


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parquet file of 200 noise clips as the hub stores them, and a task file for either way of reading it."""
    folder = tmp_path_factory.mktemp("memory")
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, (SECONDS + 1) * RATE).astype(np.float32)
    cell = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    features = {"audio": {"_type": "Audio", "sampling_rate": RATE}}
    features |= {name: {"dtype": "string", "_type": "Value"} for name in ("instruction", "label")}
    schema = pa.schema([("audio", cell), ("instruction", pa.string()), ("label", pa.string())])
    schema = schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    file = folder / "set" / "test-00000-of-00001.parquet"
    file.parent.mkdir()
    with pq.ParquetWriter(file, schema) as writer:
        for first in range(0, CLIPS, 20):
            cells = []
            for number in range(first, first + 20):
                buffer = io.BytesIO()
                sf.write(buffer, noise[number * 40 : number * 40 + SECONDS * RATE], RATE, format="FLAC")
                cells.append({"bytes": buffer.getvalue(), "path": f"{number}.flac"})
            text = ["Write down the words."] * 20
            writer.write_table(
                pa.table({"audio": pa.array(cells, cell), "instruction": text, "label": ["some words"] * 20}, schema)
            )
    for mode, config in (("ours", OURS), ("vanilla", VANILLA.format(file=file))):
        (folder / mode).mkdir()
        (folder / mode / "memory.yaml").write_text(config)
    return folder


def probe(mode: str, data: Path, environment: dict[str, str]) -> dict:
    """Runs one probe; its first run fills the datasets cache, its second is measured."""
    done = [
        subprocess.run(
            [sys.executable, str(PROBE), mode, str(data)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        for _ in range(2)
    ][-1]
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_memory_growth(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import os

    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    ours, vanilla = probe("ours", data, environment), probe("vanilla", data, environment)
    with capsys.disabled():
        print(f"\nanonymous memory, {CLIPS} clips x {SECONDS} s, growth (peak) in MB:")
        for name, found in (("dsb2-tasks", ours), ("lm-eval decode=True", vanilla)):
            shown = found.get("failed") or f"{found['growth']:.1f} ({found['peak']:.1f})"
            print(f"  {name}: {shown}")
        if "failed" not in vanilla:
            print(f"  ratio of peaks: {ours['peak'] / vanilla['peak']:.3f}")
    assert "failed" not in ours, ours
    assert ours["n"] == CLIPS and ours["answers"] == [str(SECONDS * RATE)]
    assert ours["growth"] <= 50 and ours["peak"] <= 50, ours
    if "failed" in vanilla:
        assert "torchcodec" in vanilla["failed"], (
            vanilla
        )  # the comparison needs torchcodec and ffmpeg; anything else is our fault
    else:
        assert vanilla["peak"] > ours["peak"]
