"""What a model folder holds, in one number: a retrained model in the same folder must not inherit answers."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_FILES = ("*.safetensors", "*.bin", "*.json", "*.jinja", "*.txt", "*.model", "*.py")
_READERS = 4  # hashing lets go of the interpreter lock; a 15 GB model takes some seconds, less than loading it


def fingerprint(folder: str | Path) -> str:
    """sha256 over names and contents of the files that decide what a model says; sub-folders are not looked at.

    Returns:
        64 hex digits, the same wherever the folder lies.
    """
    files = sorted({file for pattern in _FILES for file in Path(folder).glob(pattern) if file.is_file()})
    with ThreadPoolExecutor(_READERS) as pool:
        digests = list(pool.map(_digest, files))
    total = hashlib.sha256()
    for file, digest in zip(files, digests, strict=True):
        total.update(f"{file.name}\0{digest}\n".encode())
    return total.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
