"""``dsb2 doctor``: what it finds, and that only what is needed and broken fails."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dsb2_tasks import __version__
from dsb2_tasks.cli import _doctor, main


def diagnosed(code: int = 0) -> dict[str, dict[str, Any]]:
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert result.exit_code == code, result.output
    found = json.loads(result.stdout)
    assert found["ok"] == (code == 0)
    return {check["name"]: check for check in found["checks"]}


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without importing torch."""
    looks = [look for look in _doctor._LOOKS if look is not _doctor._torch]
    monkeypatch.setattr(_doctor, "_LOOKS", looks)


@pytest.mark.slow
def test_this_installation_is_sound() -> None:
    checks = diagnosed()
    assert __version__ in checks["dsb2-tasks"]["found"] and sys.version.split()[0] in checks["python"]["found"]
    assert checks["hub"]["status"] == "skipped"
    assert checks["lm-eval"]["found"] == importlib.metadata.version("lm-eval")
    assert "192 tasks" in checks["tasks"]["found"]
    assert all(check["fix"] for check in checks.values() if check["status"] == "note" and check["name"] != "GPU")
    printed = CliRunner().invoke(main, ["doctor"]).stdout
    assert all(name in printed for name in checks)


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize(
    ("setting", "value", "check", "said", "fix"),
    [
        ("DSB2_TASKS_PATH", "/nope", "DSB2_TASKS_PATH", "/nope is no folder", "correct DSB2_TASKS_PATH"),
        ("DSB2_TASKS_PATH", "{tmp}", "task file", "dsb2.kind", "broken.yaml"),
        ("DSB2_CACHE", "/proc/nope", "answers, small models", "cannot be written", "set DSB2_CACHE"),
    ],
    ids=["no folder", "broken file", "cache"],
)
def test_faults(
    setting: str, value: str, check: str, said: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.yaml").write_text("task: broken\ndsb2: {kind: nonsense}\n")
    monkeypatch.setenv(setting, value.format(tmp=tmp_path))
    found = diagnosed(1)[check]
    assert found["status"] == "fault" and said in found["found"] and fix in found["fix"]


@pytest.mark.usefixtures("cheap")
def test_a_package_that_is_too_old_or_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name == "jiwer":
            raise importlib.metadata.PackageNotFoundError(name)
        return {"lm-eval": "0.4.1", "pesq": "9"}.get(name) or real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    checks = diagnosed(1)
    assert checks["requirements"]["status"] == "fault"
    assert "jiwer is not installed" in checks["requirements"]["found"]
    assert "lm-eval 0.4.1 is not" in checks["requirements"]["found"] and "pip install" in checks["requirements"]["fix"]
    assert checks["extra generation"]["status"] == "note" and "pesq 9 is not" in checks["extra generation"]["found"]


@pytest.mark.usefixtures("cheap")
def test_run_from_a_folder_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.requires

    def requires(name: str) -> list[str] | None:
        if name == "dsb2-tasks":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "requires", requires)
    assert diagnosed()["installation"]["status"] == "note"


def test_an_extra_that_holds_another(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ['dsb2-tasks[hf]; extra == "demo"', 'torch>=99; extra == "hf"', "click>=8", 'nothere; extra == "demo"']
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: lines)
    monkeypatch.setattr(_doctor, "_version", lambda name: {"torch": "2.6", "click": "8.1", "dsb2-tasks": "0"}.get(name))
    assert _doctor.unmet() == []
    assert _doctor.unmet("demo") == ["torch 2.6 is not >=99", "nothere is not installed"]


@pytest.mark.parametrize(
    ("setting", "hooked", "status", "said"),
    [("0", True, "ok", "by the hook"), ("1", False, "note", "DSB2_NO_AUTOLOAD is set"), ("0", False, "note", "no site-packages")],
    ids=["active", "off", "absent"],
)
def test_the_hook(setting: str, hooked: bool, status: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hook:
        class _Finder:
            pass

        __file__ = "/site-packages/_dsb2_tasks_autoload.py"

    monkeypatch.setitem(sys.modules, "_dsb2_tasks_autoload", Hook)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Hook._Finder] if hooked else sys.meta_path)
    monkeypatch.setenv("DSB2_NO_AUTOLOAD", setting)
    (check,) = _doctor._hook()
    assert check.status == status and said in check.found and bool(check.fix) == (status != "ok")


@pytest.mark.parametrize("reachable", [True, False])
def test_the_hub(reachable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    class Session:
        def head(self, url: str, timeout: float) -> Any:
            assert timeout < 10
            if not reachable:
                raise ConnectionError("no route")
            return type("Response", (), {"status_code": 200})

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub, "get_session", Session)
    (check,) = _doctor._hub()
    assert (check.status, bool(check.fix)) == (("ok", False) if reachable else ("note", True))
    assert "answers" in check.found if reachable else "ConnectionError" in check.found
