"""Building wheels, and throw-away environments to install them into."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QUIET = ["--disable-pip-version-check", "--no-input", "-q"]


def run(command: list[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command without the settings of this process that would change what it imports."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DSB2_", "PIP_CONSTRAINT", "COV_"))}
    return subprocess.run(
        [str(part) for part in command],
        env={**inherited, "HF_HUB_OFFLINE": "1", **environment},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def checked(command: list[str | Path], **environment: str) -> str:
    """Like :func:`run`; fails the test with all output unless the command succeeds, and returns stdout."""
    done = run(command, **environment)
    assert done.returncode == 0, f"{command} exited {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Environment:
    """A virtual environment that sees the libraries of the running one, but not its start-up files."""

    root: Path

    @property
    def python(self) -> Path:
        return self.root / "bin" / "python"

    @property
    def site(self) -> Path:
        return self.root / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"

    def pip(self, *arguments: str | Path) -> str:
        """Runs the running environment's pip on this one; it has none, which makes it cheap."""
        return checked([sys.executable, "-m", "pip", "--python", self.python, *arguments, *QUIET])

    def install(self, *arguments: str | Path) -> None:
        # --ignore-installed: the running environment's own dsb2-tasks is visible, and must not count.
        self.pip("install", "--no-deps", "--no-build-isolation", "--ignore-installed", *arguments)

    def code(self, source: str, **environment: str) -> str:
        return checked([self.python, "-c", source], **environment)

    def json(self, source: str, **environment: str) -> Any:
        return json.loads(self.code(source, **environment).strip().splitlines()[-1])

    def files(self) -> set[str]:
        return {str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file()}


def build_wheel(source: Path, folder: Path) -> Path:
    """Builds the wheel of a source tree into ``folder``, without network."""
    command: list[str | Path] = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source]
    checked([*command, *QUIET])
    (built,) = folder.glob("*.whl")
    return built
