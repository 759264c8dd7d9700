"""The two ways in which audio can fail: this clip, or this installation."""


class AudioError(Exception):
    """A clip cannot be read, decoded or used under the policy; the run goes on without it.

    Attributes:
        reason: One short line for the results file.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AudioSetupError(RuntimeError):
    """A library that every clip would need is missing or broken; the run must stop, and the message names the fix."""
