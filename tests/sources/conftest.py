"""Small data sets made on the fly."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile as sf


def tone(frequency: float, seconds: float = 0.2, rate: int = 16000) -> bytes:
    """A sine as the bytes of a wav file."""
    buffer = io.BytesIO()
    sf.write(buffer, 0.3 * np.sin(2 * np.pi * frequency * np.arange(int(seconds * rate)) / rate), rate, format="WAV")
    return buffer.getvalue()


@pytest.fixture
def write_parquet() -> Callable[..., Path]:
    """Writes rows with one audio column ``audio`` (a tone per row) to a parquet file as the hub stores it."""

    def write(path: Path, rows: list[dict[str, Any]], audio: tuple[str, ...] = ("audio",)) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        cell = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        columns = {key: pa.array([row[key] for row in rows]) for key in rows[0]}
        for number, name in enumerate(audio):
            clips = [{"bytes": tone(300 + 100 * row + 37 * number), "path": f"{name}{row}.wav"} for row in range(len(rows))]
            columns[name] = pa.array(clips, cell)
        features = {name: {"_type": "Audio", "sampling_rate": 16000} for name in audio}
        features |= {key: {"dtype": str(columns[key].type), "_type": "Value"} for key in rows[0]}
        table = pa.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
        pq.write_table(table, path)
        return path

    return write


@pytest.fixture
def write_clips() -> Callable[..., Path]:
    """Writes a folder of tones with a metadata file of the given records."""

    def write(folder: Path, records: list[dict[str, Any]], metadata: str = "metadata.jsonl") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        for number, record in enumerate(records):
            for key, value in record.items():
                if key.endswith("file_name") and "/" not in str(value):
                    (folder / value).write_bytes(tone(300 + 100 * number))
        if metadata.endswith(".csv"):
            head = ",".join(records[0])
            lines = [head, *(",".join(str(v) for v in record.values()) for record in records)]
        else:
            lines = [json.dumps(record) for record in records]
        (folder / metadata).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    return write
