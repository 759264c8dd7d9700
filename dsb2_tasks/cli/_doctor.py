"""``dsb2 doctor``: what of this installation works, and how to mend what does not."""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

_PACKAGE = "dsb2-tasks"
_HUB_SECONDS = 4.0
_LITTLE_ROOM = 2_000_000_000
#: Packages whose versions explain most reports of faults, beside those that the package itself requires.
_TOLD = ("lm-eval", "datasets", "huggingface-hub", "soundfile", "torch", "torchaudio", "transformers", "faster-whisper")


@dataclass(frozen=True)
class Check:
    """One finding.

    Attributes:
        name: What was looked at.
        status: ``ok``; ``note`` for what is absent or limited and need not be there; ``fault`` for what is needed and broken;
            ``skipped``.
        found: What was found.
        fix: What to do about it; empty where there is nothing to do.
    """

    name: str
    status: str
    found: str
    fix: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Check this installation, and say how to mend what is broken.

    Exit code 1 if something that is needed is broken; a note is about what works with less, or is needed by some only.

    \b
    Examples:
      dsb2 doctor
      HF_HUB_OFFLINE=1 dsb2 doctor --json
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    from dsb2_tasks.cli import _output

    logging.disable(logging.WARNING)  # what is logged while looking is told in the table
    try:
        checks = [check for look in _LOOKS for check in look()]
    finally:
        logging.disable(logging.NOTSET)
    faults = sum(check.status == "fault" for check in checks)
    if as_json:
        _output.show_json({"ok": not faults, "checks": [asdict(check) for check in checks]})
    else:
        table = _output.table("check", "", "found", "fix")
        for check in checks:
            status = check.status.upper() if check.status == "fault" else check.status
            _output.add(table, check.name, status, check.found, check.fix)
        _output.show(table)
    if faults:
        raise click.ClickException(f"{faults} {'thing that is' if faults == 1 else 'things that are'} needed, and broken")


def _versions() -> Iterator[Check]:
    from dsb2_tasks import __file__ as place
    from dsb2_tasks import __version__

    yield Check(_PACKAGE, "ok", f"{__version__} in {Path(str(place)).parent}")
    yield Check("python", "ok", f"{sys.version.split()[0]} ({sys.executable})")
    for name in _TOLD:
        version = _version(name)
        yield Check(name, "ok" if version else "note", version or "not installed")


def unmet(extra: str = "") -> list[str]:
    """What the package, or one of its extras, requires and this python lacks, each as a sentence.

    Raises:
        PackageNotFoundError: The package is run from a folder, not installed.
    """
    from packaging.requirements import Requirement

    wrong = []
    for needed in map(Requirement, importlib.metadata.requires(_PACKAGE) or ()):
        always = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if always == bool(extra) or not (always or (needed.marker and needed.marker.evaluate({"extra": extra}))):
            continue
        if needed.name == _PACKAGE:  # an extra that holds another one
            wrong += [line for other in needed.extras for line in unmet(other)]
        elif (version := _version(needed.name)) is None:
            wrong.append(f"{needed.name} is not installed")
        elif not needed.specifier.contains(version, prereleases=True):
            wrong.append(f"{needed.name} {version} is not {needed.specifier}")
    return list(dict.fromkeys(wrong))


def _requirements() -> Iterator[Check]:
    """What the package says it needs, and which extras are complete."""
    try:
        wrong = unmet()
        extras = importlib.metadata.metadata(_PACKAGE).get_all("Provides-Extra") or []
    except importlib.metadata.PackageNotFoundError:
        yield Check("installation", "note", "run from a folder, not installed", "pip install -e . in that folder")
        return
    yield Check("requirements", "fault" if wrong else "ok", "; ".join(wrong) or "met", f"pip install {_PACKAGE}" if wrong else "")
    for extra in sorted(set(extras) - {"dev"}):
        wrong = unmet(extra)
        fix = f'pip install "{_PACKAGE}[{extra}]", if it is wanted' if wrong else ""
        yield Check(f"extra {extra}", "note" if wrong else "ok", "; ".join(wrong) or "complete", fix)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _audio() -> Iterator[Check]:
    try:
        import soundfile
    except (ImportError, OSError) as error:
        yield Check("audio files", "fault", f"soundfile does not load: {error}", "pip install --force-reinstall soundfile")
    else:
        missing = sorted({"MP3", "FLAC", "OGG", "WAV"} - set(soundfile.available_formats()))
        version = getattr(soundfile, "__libsndfile_version__", "?")
        found = f"libsndfile {version}" + (f", without {', '.join(missing)}" if missing else "")
        fix = "pip install --force-reinstall soundfile (its wheels bring a libsndfile that reads all)" if missing else ""
        yield Check("audio files", "fault" if missing else "ok", found, fix)
    if _version("av"):
        yield Check("m4a, webm", "ok", f"PyAV {_version('av')}")
    else:
        yield Check(
            "m4a, webm", "note", "PyAV is not installed; these containers cannot be read", f'pip install "{_PACKAGE}[av]"'
        )
    ffmpeg, codec = shutil.which("ffmpeg") or "not found", _version("torchcodec") or "not installed"
    yield Check("ffmpeg, torchcodec", "ok", f"{ffmpeg}, {codec} (not used here)")


def _torch() -> Iterator[Check]:
    install = f'pip install "{_PACKAGE}[hf]"'
    if _version("torch") is None:
        yield Check("torch", "note", "not installed: tasks are listed and answers scored, no local model runs", install)
        return
    try:
        import torch
    except (ImportError, OSError) as error:
        yield Check("torch", "fault", f"does not load: {error}", f"reinstall torch, or: {install}")
        return
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
        yield Check("GPU", "ok", ", ".join(f"{one.name} ({one.total_memory / 1e9:.0f} GB)" for one in names))
    else:
        built = f"torch is built for CUDA {torch.version.cuda}" if torch.version.cuda else "torch is a build without CUDA"
        yield Check("GPU", "note", f"none that torch can use ({built}); models run on the CPU")
    if _version("torchaudio") is None:
        yield Check("torchaudio", "note", "not installed: clips cannot be resampled", install)
        return
    pair = "install torch and torchaudio that belong together (both CPU or both for one CUDA), from one package index"
    try:
        importlib.import_module("torchaudio")
        yield Check("torchaudio loads", "ok", "with its compiled library")
    except (ImportError, OSError, RuntimeError) as error:
        yield _without_library(error, pair)


def _without_library(error: Exception, pair: str) -> Check:
    from dsb2_tasks.audio import AudioSetupError, ensure_torchaudio

    try:
        ensure_torchaudio()
    except AudioSetupError as second:
        return Check("torchaudio loads", "fault", str(second), pair)
    cause = " ".join(str(error.__cause__ or error).split())[:150]
    return Check("torchaudio loads", "note", f"without its compiled library ({cause}); resampling is not affected", pair)


def _hook() -> Iterator[Check]:
    """Whether a bare lm_eval finds our tasks; ``dsb2 run`` does without."""
    name = "lm_eval finds dsb2"
    hook = sys.modules.get("_dsb2_tasks_autoload")
    if hook is not None and hook._Finder in sys.meta_path:
        yield Check(name, "ok", f"by the hook {Path(str(hook.__file__)).with_name('dsb2_tasks.pth')}")
    elif os.environ.get("DSB2_NO_AUTOLOAD", "0") not in ("", "0"):
        yield Check(name, "note", "switched off: DSB2_NO_AUTOLOAD is set", "unset DSB2_NO_AUTOLOAD, or use dsb2 run")
    elif sys.flags.no_site:
        yield Check(name, "note", "python runs without site packages (-S)", "start python without -S, or use dsb2 run")
    else:
        fix = f'pip install --force-reinstall --no-deps "{_PACKAGE}", or use dsb2 run'
        yield Check(name, "note", "dsb2_tasks.pth is in no site-packages folder of this python", fix)


def _hub() -> Iterator[Check]:
    from huggingface_hub import constants, get_session

    name = "hub"
    if constants.HF_HUB_OFFLINE:
        yield Check(name, "skipped", "HF_HUB_OFFLINE is set")
        return
    try:
        status = get_session().head(constants.ENDPOINT, timeout=_HUB_SECONDS).status_code
        yield Check(name, "ok", f"{constants.ENDPOINT} answers ({status})")
    except Exception as error:  # requests or httpx, by the version of the hub's client
        fix = "without a connection: --data samples, --data FOLDER, or dsb2 prefetch while there is one"
        yield Check(name, "note", f"{constants.ENDPOINT} does not answer ({type(error).__name__})", fix)


def _folders() -> Iterator[Check]:
    from huggingface_hub import constants

    from dsb2_tasks.models import cache_folder

    for name, folder, setting in (
        ("answers, small models", cache_folder(), "DSB2_CACHE"),
        ("data sets, models", Path(constants.HF_HUB_CACHE), "HF_HUB_CACHE"),
    ):
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        room = shutil.disk_usage(there).free
        found = f"{folder}, {room / 1e9:.1f} GB free"
        try:
            with tempfile.TemporaryFile(dir=there):
                pass
        except OSError as error:
            yield Check(name, "fault", f"{folder} cannot be written ({error.strerror})", f"set {setting} to a folder that can")
            continue
        few = room < _LITTLE_ROOM
        yield Check(name, "note" if few else "ok", found, f"make room, or set {setting} to another disk" if few else "")


def _tasks() -> Iterator[Check]:
    from dsb2_tasks import catalog

    try:
        known = catalog.read_catalog()
    except catalog.SpecError as error:
        yield Check("tasks", "fault", str(error), f'pip install --force-reinstall --no-deps "{_PACKAGE}"')
        return
    yield Check("tasks", "ok", f"{len(known.tasks)} tasks, {len(known.groups)} groups")
    given = os.environ.get(catalog.TASKS_PATH, "")
    for path in filter(None, given.split(os.pathsep)):
        if not Path(path).expanduser().is_dir():
            yield Check(catalog.TASKS_PATH, "fault", f"{path} is no folder", f"correct {catalog.TASKS_PATH}")
    for fault in known.faults:
        yield Check("task file", "fault", fault.reason, f"correct {fault.path} (dsb2 validate says more)")


_LOOKS = (_versions, _requirements, _audio, _torch, _hook, _hub, _folders, _tasks)
