"""The two engines.  Each runs in a process of its own, keeps every find (the smallest input a place) and goes on."""

from __future__ import annotations

import hashlib
import importlib
import logging
import random
import sys
import time
import traceback
from pathlib import Path

from ._target import SECONDS, SEEDS, Target

#: Name of a target -> the module that holds it.
TARGETS = {"answers": "_answers", "tasks": "_tasks", "audio": "_audio", "records": "_records"}
#: Instrumented code is slower.
_SECONDS_INSTRUMENTED = 3 * SECONDS
#: Inputs of one round of hypothesis, which remembers what it tried.
_ROUND = 500


def load(name: str) -> Target:
    """The target of a name; imports what it reads with."""
    logging.disable(logging.CRITICAL)  # each input that is refused would warn
    target: Target = getattr(importlib.import_module(f"{__package__}.{TARGETS[name]}"), name.upper())
    return target


class Finds:
    """Inputs that broke an invariant, one file a place in the code; and the input at hand, should the process die of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.current = folder, folder / "at-hand"
        self._sizes: dict[str, int] = {}

    def attempt(self, target: Target, data: bytes, seconds: float = SECONDS) -> None:
        self.current.write_bytes(data)
        try:
            target.bounded(data, seconds)
        except Exception as error:
            self._keep(data, error)

    def _keep(self, data: bytes, error: Exception) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        at = "; ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-3:])
        place = hashlib.sha256(f"{type(error).__name__} {at}".encode()).hexdigest()[:12]
        if len(data) >= self._sizes.get(place, sys.maxsize):
            return
        file = self.folder / f"find-{place}"
        if place not in self._sizes:
            print(f"FIND {file}: {type(error).__name__} at {at}: {str(error)[:500]}", flush=True)
        self._sizes[place] = len(data)
        file.write_bytes(data)
        file.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), errors="backslashreplace")


def run_hypothesis(name: str, minutes: float, seed: int, corpus: Path, folder: Path) -> None:
    """Rounds of generated inputs until the time is over; seeds and files of the corpus are tried first."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    target, finds = load(name), Finds(folder)
    end, count, number = time.monotonic() + 60 * minutes, 0, 0
    for data in [*target.seeds.values(), *(path.read_bytes() for path in sorted(corpus.iterdir()))]:
        count += 1
        finds.attempt(target, data)
    while time.monotonic() < end:

        @seeded(seed + number)
        @settings(
            max_examples=_ROUND,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(target.inputs())
        def one(data: bytes) -> None:
            nonlocal count
            if time.monotonic() < end:
                count += 1
                finds.attempt(target, data)

        one()
        number += 1
    finds.current.unlink(missing_ok=True)
    print(f"DONE hypothesis {name}: {count} inputs in {minutes:g} minutes, seed {seed}", flush=True)


def run_atheris(name: str, minutes: float, seed: int, corpus: Path, folder: Path) -> None:
    """libFuzzer with the coverage of dsb2_tasks; what reaches new code is added to the corpus."""
    import atheris

    # Modules that are imported inside of functions later on stay without: torch and the like must.
    with atheris.instrument_imports(include=["dsb2_tasks"]):
        target = load(name)
    finds = Finds(folder)
    words = folder / "words.dict"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))

    def one(data: bytes) -> None:
        finds.attempt(target, data, _SECONDS_INSTRUMENTED)

    def mutate(data: bytes, most: int, number: int) -> bytes:
        rnd = random.Random(number)
        return atheris.Mutate(data, most) if rnd.random() < 0.5 else target.changed(data, rnd, rnd.randint(1, 3))[:most]

    options = {"max_total_time": max(1, round(60 * minutes)), "seed": seed, "max_len": target.most, "dict": words}
    # Seconds on the clock, which say little on a busy machine; processor time is bounded by the target.
    limits = {
        "timeout": 120,
        "report_slow_units": 120,
        "rss_limit_mb": 4096,
        "print_final_stats": 1,
        "artifact_prefix": f"{folder}/find-",
    }
    arguments = [f"-{key}={value}" for key, value in {**options, **limits}.items()]
    atheris.Setup([sys.argv[0], *arguments, str(corpus), str(SEEDS / name)], one, custom_mutator=mutate)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "surrogatepass"))


ENGINES = {"hypothesis": run_hypothesis, "atheris": run_atheris}
