"""A task of somebody else and its clips."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import soundfile

GOOD = """\
task: my_pets
class: !function dsb2_tasks.task.DSB2Task
metadata: {version: 1}
dsb2:
  kind: choice
  metric: accuracy
  modality: audio
  domain: sound_event
  prompt: Which animal is heard, a dog or a cat?
  options: [dog, cat]
  data: [{path: ./clips}]
"""


def write_clips(folder: Path, labels: list[str], **columns: str) -> Path:
    """A folder of short tones, each with a label."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, label in enumerate(labels):
        tone = 0.1 * np.sin(np.arange(4000) * 0.1 * (number + 1)).astype("float32")
        soundfile.write(folder / f"{number}.wav", tone, 8000)
        rows.append(json.dumps({"file_name": f"{number}.wav", "label": label, **columns}))
    (folder / "metadata.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder
