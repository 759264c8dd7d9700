"""``hf-audio`` on a GPU against a plain loop: ``python -m tests.perf.bench_gpu``.

A Qwen2-Audio of the published size (8.4 billion numbers, bfloat16, random weights) answers questions about 200 clips: one clip at
a time by processor and ``generate``, as a script would, and by the backend.  Told are clips a second and the share of time that
the GPU was busy, as nvidia-smi samples it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from dsb2_tasks.audio import AudioPolicy, prepare
from dsb2_tasks.models import _load
from dsb2_tasks.models._chat import Chat
from tests.perf._audio_load import Clips, backend, lengths, make_model


@contextmanager
def busy(device: torch.device) -> Iterator[list[float]]:
    """Shares of time that the GPU was busy, sampled every 0.2 s; empty on a CPU."""
    found: list[float] = []
    if device.type != "cuda":
        yield found
        return
    query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "200"]
    sampler = subprocess.Popen([*query, "-i", str(device.index or 0)], stdout=subprocess.PIPE, text=True)
    try:
        yield found
    finally:
        sampler.terminate()
        printed, _ = sampler.communicate(timeout=30)
        found += [float(line) / 100 for line in printed.splitlines() if line.strip().isdigit()]


def plain(loaded: _load.Loaded, device: torch.device, clips: Clips, tokens: int) -> int:
    """A loop of processor and ``generate``, a clip at a time; the number of answers."""
    adapter, model = loaded.adapter, loaded.model
    chat, answers = Chat((("user", "What is said?"),)), []
    for handle in clips.handles():
        (clip,) = prepare(handle, AudioPolicy(rate=adapter.rate, max_seconds=adapter.window_seconds))
        inputs = adapter.inputs([adapter.messages(chat, [clip.samples], "before")]).to(device, dtype=model.dtype)
        with torch.inference_mode():
            output = model.generate(**inputs, max_new_tokens=tokens, do_sample=False)
        answers.append(adapter.text(adapter.new_tokens(output, inputs)[0].tolist()))
    return len(answers)


def measured(way: Callable[[], int], device: torch.device) -> dict[str, Any]:
    """Clips a second, and the GPU's busy share (None on a CPU)."""
    with busy(device) as shares:
        started = time.monotonic()
        number = way()
        took = time.monotonic() - started
    return {"clips_a_second": number / took, "seconds": took, "busy": statistics.fmean(shares) if shares else None}


def compare(size: str, device: torch.device, dtype: torch.dtype, number: int, tokens: int, batch_size: str) -> dict[str, Any]:
    """Both ways on the same model and clips."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = make_model(Path(folder), size, device, dtype)
    lm = backend(loaded, device, batch_size=batch_size)
    clips = Clips(lengths(number))
    plain(loaded, device, Clips([1.0]), 2)  # the first call is slower
    loop = measured(lambda: plain(loaded, device, clips, tokens), device)
    ours = measured(lambda: len(lm.generate_until(clips.requests(tokens), disable_tqdm=True)), device)
    spent = lm.get_model_info()["dsb2_model"]["time"]
    return {
        "plain": loop,
        "hf_audio": ours,
        "ratio": ours["clips_a_second"] / loop["clips_a_second"],
        "batch_size": spent["batch_size"],
        "out_of_memory_halvings": spent["out_of_memory_halvings"],
    }


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf.bench_gpu", description=str(__doc__).splitlines()[0])
    parser.add_argument("--size", choices=("tiny", "small", "real"), default="real", help="of the model")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--tokens", type=int, default=32, help="of each answer")
    parser.add_argument("--batch-size", default="auto")
    given = parser.parse_args()
    device = torch.device(given.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        parser.error(f"--device {given.device}: there is no CUDA device here; --device cpu --size tiny shows that it runs")
    dtype = getattr(torch, given.dtype)
    print(json.dumps(compare(given.size, device, dtype, given.clips, given.tokens, given.batch_size), indent=1))


if __name__ == "__main__":
    main()
