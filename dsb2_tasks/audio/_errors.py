"""The two ways in which audio can fail: this clip, or this installation."""

#: Characters of a reason: its beginning names the clip, its end the cause.
_START, _END = 300, 200


class AudioError(Exception):
    """A clip cannot be read, decoded or used under the policy; the run goes on without it.

    Attributes:
        reason: One short line for logs and the results file.  Names of files and what they hold are strangers' work, so what
            cannot be printed is escaped.
    """

    def __init__(self, reason: str) -> None:
        if len(reason) > _START + _END:
            reason = f"{reason[:_START]}...{reason[-_END:]}"
        self.reason = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in reason)
        super().__init__(self.reason)


class AudioSetupError(RuntimeError):
    """A library that every clip would need is missing or broken; the run must stop, and the message names the fix."""
