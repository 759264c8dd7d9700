"""Imports torchaudio even where its compiled library does not load.

The torchaudio wheels of 2.11 are linked against CUDA and do not require a CUDA build of torch.  Beside a CPU build their
library fails to load, ``import torchaudio`` raises OSError, and so does every audio processor of transformers, which
imports torchaudio whenever the package is installed.  Resampling, filters and spectrograms are plain Python and need no
library, and torchaudio itself has a mode without one.
"""

from __future__ import annotations

import importlib
import logging
import sys
import threading
from types import ModuleType

from dsb2_tasks.audio._errors import AudioSetupError

log = logging.getLogger(__name__)

_LOADER = "torchaudio._extension.utils"
_lock = threading.Lock()


def ensure_torchaudio() -> ModuleType:
    """Imports torchaudio, without its compiled library if that does not load.

    Changes nothing for a healthy installation, and deletes or writes no file.  Call it before the first import of audio
    parts of transformers.  Where the library is broken, what needs it (forced alignment, CTC decoding on CUDA) stays
    unavailable and says so when called.

    Returns:
        The module ``torchaudio``.

    Raises:
        AudioSetupError: torchaudio or torch is not installed, or torchaudio does not import in any way.
    """
    with _lock:
        try:
            return importlib.import_module("torchaudio")
        except ModuleNotFoundError as error:
            raise AudioSetupError(
                f"resampling and audio models need torch and torchaudio, and {error.name} is not installed; "
                f'run: pip install "dsb2-tasks[hf]"'
            ) from error
        except (OSError, ImportError, RuntimeError) as error:
            return _without_library(error)


def _without_library(error: Exception) -> ModuleType:
    """Imports torchaudio again with its loader answering "no library file found", the answer for which it has a mode."""
    cause = error.__cause__ or error
    fix = (
        "install builds of torch and torchaudio that belong together (both CPU or both for the same CUDA), "
        "from the same package index"
    )
    # The failed import took torchaudio out of sys.modules but left its finished parts, this one among them; the second
    # import uses it again.
    loader = sys.modules.get(_LOADER)
    original = getattr(loader, "_load_lib", None)
    if loader is None or original is None:
        raise AudioSetupError(f"torchaudio does not import ({cause}); {fix}") from error
    loader._load_lib = lambda lib: False  # type: ignore[attr-defined]
    try:
        module = importlib.import_module("torchaudio")
    except Exception as second:
        raise AudioSetupError(
            f"torchaudio does not import, not even without its compiled library ({cause}; {second}); {fix}"
        ) from second
    finally:
        loader._load_lib = original  # type: ignore[attr-defined]
    log.warning(
        "torchaudio %s runs without its compiled library, which does not load beside torch %s (%s). "
        "Resampling is not affected. To mend it: %s.",
        getattr(module, "__version__", "?"),
        getattr(sys.modules.get("torch"), "__version__", "?"),
        cause,
        fix,
    )
    return module
