"""Makes the embedded samples from the recipe: ``python -m dsb2_tasks.samples.build [OUT]``."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from dsb2_tasks.samples import LICENCE, VERSION, root
from dsb2_tasks.samples._dataset import DataSet, table
from dsb2_tasks.samples._speech import SpeechError, espeak_version


def data_sets() -> Iterator[DataSet]:
    """All data sets of the recipe, in a fixed order."""
    from dsb2_tasks.samples import recipe

    for family in recipe.FAMILIES:
        yield from family.DATA_SETS


def build(out: Path, only: list[str] | None = None) -> dict[str, str]:
    """Writes ``<out>/<org>/<name>/test.parquet`` for each data set.

    Args:
        out: Folder to write to.
        only: Names of data sets (without the organisation); all by default.

    Returns:
        sha256 of each file by its path under ``out``.

    Raises:
        SpeechError: espeak-ng is missing.
        ValueError: ``only`` names no data set of the recipe.
    """
    import pyarrow.parquet as pq

    espeak_version()
    known = {data_set.name: data_set for data_set in data_sets()}
    if unknown := sorted(set(only or ()) - set(known)):
        raise ValueError(f"no data set of the recipe: {', '.join(unknown)}")
    sums = {}
    for name, data_set in known.items():
        if only and name not in only:
            continue
        file = out / data_set.path / "test.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        # Audio is compressed already, and statistics of audio bytes would only store clips twice.
        pq.write_table(table(data_set), file, compression="zstd", use_dictionary=False, write_statistics=False)
        sums[str(file.relative_to(out))] = hashlib.sha256(file.read_bytes()).hexdigest()
    return sums


def write_manifest(out: Path, sums: dict[str, str]) -> None:
    """Writes ``manifest.json``: version, licence, tools, and the sum of each file."""
    import numpy
    import pyarrow
    import soundfile

    manifest = {
        "version": VERSION,
        "licence": LICENCE,
        "tools": {
            "espeak-ng": espeak_version(),
            "libsndfile": soundfile.__libsndfile_version__,
            "numpy": numpy.__version__,
            "pyarrow": pyarrow.__version__,
        },
        "files": dict(sorted(sums.items())),
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m dsb2_tasks.samples.build", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=root(), help="folder to write to (default: that of the package)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="make these data sets alone, and no manifest")
    chosen = parser.parse_args(arguments)
    try:
        sums = build(chosen.out, chosen.only)
    except (SpeechError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not chosen.only:
        write_manifest(chosen.out, sums)
    size = sum((chosen.out / name).stat().st_size for name in sums)
    print(f"{len(sums)} data sets, {size / 1e6:.2f} MB, in {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
