"""From a handle to samples: what a clip is named by, where its file lies, how it is decoded and fitted to a model.

Documents and requests carry handles, never audio.  A backend turns a handle into samples with :func:`prepare`, which
decodes (soundfile), mixes, resamples (torchaudio) and bounds the length as its :class:`AudioPolicy` states, and names
in :attr:`Clip.events` everything it changed.  Importing this package imports neither torch nor soundfile.
"""

from dsb2_tasks.audio._decode import AudioInfo, RawAudio, decode, read_info
from dsb2_tasks.audio._errors import AudioError, AudioSetupError
from dsb2_tasks.audio._failure import FAILURE_KINDS, clean_answer, failure, read_failure
from dsb2_tasks.audio._handle import check_handle, make_handle
from dsb2_tasks.audio._join import join
from dsb2_tasks.audio._log import AudioLog
from dsb2_tasks.audio._picture import draw, outline
from dsb2_tasks.audio._prepare import AudioPolicy, Clip, prepare
from dsb2_tasks.audio._resample import resample
from dsb2_tasks.audio._store import STORE, AudioSource, AudioStore
from dsb2_tasks.audio._torchaudio import ensure_torchaudio

__all__ = [
    "FAILURE_KINDS",
    "STORE",
    "AudioError",
    "AudioInfo",
    "AudioLog",
    "AudioPolicy",
    "AudioSetupError",
    "AudioSource",
    "AudioStore",
    "Clip",
    "RawAudio",
    "check_handle",
    "clean_answer",
    "decode",
    "draw",
    "ensure_torchaudio",
    "failure",
    "join",
    "make_handle",
    "outline",
    "prepare",
    "read_failure",
    "read_info",
    "resample",
]
