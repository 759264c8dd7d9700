"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

#: ``fault``: the file must be corrected.  ``warning``: a person should look.  ``note``: something was not checked.
Level = Literal["fault", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing found in a task file, or in a template that it includes.

    Attributes:
        path: The file.
        line: Its line, counted from 1.
        level: Whether the file must be corrected.
        cause: What is wrong.
        fix: What to do; empty where the cause says it.
    """

    path: Path
    line: int
    level: Level
    cause: str
    fix: str = ""

    def __str__(self) -> str:
        """``file:line: level: cause; fix``, the form that editors jump to; one line whatever a file holds."""
        text = f"{self.cause}; {self.fix}" if self.fix else self.cause
        return f"{self.path}:{self.line}: {self.level}: {_one_line(text)}"


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split("\n")))


@dataclass
class Outcome:
    """What is known about one file.

    Attributes:
        path: The file as it was named.
        task: Name of its task or group, where it could be read.
        ours: Whether it is a dsb2 task or group at all; others are passed over.
        findings: In order of lines.
        rows: Number of rows that were read, None where no data were opened.
        prompt: The first row's prompt.
        scores: Metric -> value of the reference answers to the first rows.
    """

    path: Path
    task: str | None = None
    ours: bool = True
    findings: list[Finding] = field(default_factory=list)
    rows: int | None = None
    prompt: str | None = None
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def faults(self) -> list[Finding]:
        """What must be corrected."""
        return [finding for finding in self.findings if finding.level == "fault"]

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        findings = [{**vars(finding), "path": str(finding.path)} for finding in self.findings]
        finite = {name: value if value == value and abs(value) != float("inf") else None for name, value in self.scores.items()}
        return {**vars(self), "path": str(self.path), "ok": not self.faults, "findings": findings, "scores": finite}
