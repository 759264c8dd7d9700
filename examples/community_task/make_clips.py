"""Makes the folder of clips that ``spoken_sentences.yaml`` reads: 19 recordings of two Debian packages, with their words.

    apt-get install pocketsphinx-testdata alsa-utils
    python make_clips.py            # writes ./clips beside this file

A folder of your own looks the same: audio files, and a ``metadata.jsonl`` with one line a clip,
``{"file_name": "a.wav", "label": "what is said"}``; every further key becomes a column.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

SPHINX = Path("/usr/share/pocketsphinx/test/data")
ALSA = Path("/usr/share/sounds/alsa")

#: ``<s> ten of clubs  </s> (001)``
_LINE = re.compile(r"<s>\s*(.*?)\s*</s>\s*\((\S+)\)")


def recordings(sphinx: Path = SPHINX, alsa: Path = ALSA) -> Iterator[tuple[Path, str]]:
    """Yields (file, what is said): 11 sentences of pocketsphinx-testdata, 8 phrases of alsa-utils."""
    for transcripts in (sphinx / "cards" / "cards.transcription", sphinx / "librivox" / "transcription"):
        for text, name in _LINE.findall(transcripts.read_text(encoding="utf-8")):
            yield transcripts.parent / f"{name}.wav", text
    yield sphinx / "goforward.raw", "go forward ten meters"
    for path in sorted(alsa.glob("*_*.wav")):  # Front_Center.wav says "front center"; Noise.wav says nothing
        yield path, path.stem.replace("_", " ").lower()


def make_clips(folder: Path, sphinx: Path = SPHINX, alsa: Path = ALSA) -> int:
    """Writes clips and ``metadata.jsonl`` into ``folder`` and returns the number of clips.

    Raises:
        FileNotFoundError: A package is not installed.
    """
    for place, package in ((sphinx, "pocketsphinx-testdata"), (alsa, "alsa-utils")):
        if not place.is_dir():
            raise FileNotFoundError(f"{place} does not exist; run: apt-get install {package}")
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for source, text in recordings(sphinx, alsa):
        target = folder / f"{source.parent.name}-{source.stem}.wav"
        if source.suffix == ".raw":  # headerless 16 kHz 16 bit mono
            with wave.open(str(target), "wb") as out:
                out.setparams((1, 2, 16_000, 0, "NONE", "not compressed"))
                out.writeframes(source.read_bytes())
        else:
            shutil.copyfile(source, target)
        lines.append(json.dumps({"file_name": target.name, "label": text}) + "\n")
    (folder / "metadata.jsonl").write_text("".join(lines), encoding="utf-8")
    return len(lines)


def main() -> None:
    """Command line: one optional argument, the folder to write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "clips")
    folder = parser.parse_args().folder
    try:
        print(f"{make_clips(folder)} clips in {folder}")
    except FileNotFoundError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
