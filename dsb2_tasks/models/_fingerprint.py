"""What a model folder or file holds, in one number: a retrained model in the same place must not inherit answers."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_FILES = ("*.safetensors", "*.bin", "*.json", "*.jinja", "*.txt", "*.model", "*.py")
_READERS = 4  # hashing lets go of the interpreter lock; a 15 GB model takes some seconds, less than loading it


def fingerprint(path: str | Path) -> str:
    """sha256 over names and contents of the files that decide what a model says, those in sub-folders too.

    Args:
        path: Folder, of which hidden files and folders are left out; or a single file, of any kind.

    Returns:
        64 hex digits, the same wherever the folder lies.

    Raises:
        FileNotFoundError: There is nothing at ``path``.
    """
    path = Path(path)
    if not path.is_dir():
        return _digest(path)
    found = {file for pattern in _FILES for file in path.rglob(pattern) if file.is_file()}
    named = sorted((file.relative_to(path), file) for file in found)
    named = [(name, file) for name, file in named if not any(part.startswith(".") for part in name.parts)]
    with ThreadPoolExecutor(_READERS) as pool:
        digests = list(pool.map(_digest, [file for _, file in named]))
    total = hashlib.sha256()
    for (name, _), digest in zip(named, digests, strict=True):
        total.update(f"{name.as_posix()}\0{digest}\n".encode())
    return total.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
