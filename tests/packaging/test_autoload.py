"""The start-up hook: it costs nothing, imports nothing, breaks nothing."""

from __future__ import annotations

import importlib
import json
import pkgutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from _environments import Environment, checked, run

MODULES = "import json, sys; print(json.dumps(sorted(sys.modules)))"


@pytest.fixture
def folder(repository: Path) -> Path:
    return repository / "dsb2_tasks" / "_autoload"


@pytest.fixture
def hook(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A fresh copy of the hook's module, with the import system restored afterwards."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "_dsb2_tasks_autoload", raising=False)
    return importlib.import_module("_dsb2_tasks_autoload")


def _ours(hook: ModuleType) -> int:
    return sys.meta_path.count(hook._Finder)


def test_pth_and_start_name_the_same_function(folder: Path, hook: ModuleType) -> None:
    start = (folder / "dsb2_tasks.start").read_text(encoding="utf-8").splitlines()
    assert start == ["_dsb2_tasks_autoload:install"]
    assert pkgutil.resolve_name(start[0]) is hook.install
    (line,) = (folder / "dsb2_tasks.pth").read_text(encoding="utf-8").splitlines()
    assert line.startswith("import ")  # site runs only such lines
    exec(line)
    assert _ours(hook) == 1


def test_pth_sorts_after_the_path_of_an_editable_install(folder: Path) -> None:
    (ours,) = (file.name for file in folder.glob("*.pth"))
    assert sorted([ours, "_dsb2_tasks.pth", "_editable_impl_dsb2_tasks.pth"])[-1] == ours


def test_a_finder_that_asks_the_others_in_turn_does_not_go_round(hook: ModuleType) -> None:
    class Other:
        @classmethod
        def find_spec(cls, name: str, path: object = None, target: object = None) -> object:
            for finder in sys.meta_path:
                if finder is not cls and (spec := finder.find_spec(name, path, target)) is not None:
                    return spec
            return None

    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "__name__", "") != "_Finder"]
    hook.install()
    sys.meta_path.insert(0, Other)
    sys.meta_path.insert(2, Other)
    assert importlib.import_module("importlib.util").find_spec("lm_eval.models") is not None


def test_a_package_that_exits_on_import_does_not_end_the_host(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise SystemExit(3)

    monkeypatch.setitem(sys.modules, "dsb2_tasks.plugin", Broken("dsb2_tasks.plugin"))
    monkeypatch.setattr("dsb2_tasks.plugin", Broken("dsb2_tasks.plugin"), raising=False)
    hook._run("lm_eval.models", ModuleType("lm_eval.models"))


def test_install_is_idempotent(hook: ModuleType) -> None:
    hook.install()
    hook.install()
    assert _ours(hook) == 1
    assert sys.meta_path[0] is hook._Finder


@pytest.mark.parametrize(("value", "count"), [("1", 0), ("true", 0), ("0", 1), ("", 1)])
def test_off_switch(hook: ModuleType, monkeypatch: pytest.MonkeyPatch, value: str, count: int) -> None:
    monkeypatch.setenv("DSB2_NO_AUTOLOAD", value)
    hook.install()
    assert _ours(hook) == count


def _fake_host(tmp_path: Path, models: str, plugin: str) -> list[str | Path]:
    """A program start with a fake lm_eval and a fake dsb2_tasks.plugin, and the hook switched on."""
    for name, source in {
        "lm_eval/__init__.py": "",
        "lm_eval/models/__init__.py": models,
        "dsb2_tasks/__init__.py": "",
        "dsb2_tasks/plugin.py": plugin,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return [sys.executable, "-S", "-c"]


def _start(tmp_path: Path, folder: Path) -> str:
    return (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(folder)!r}]; "
        "import _dsb2_tasks_autoload; _dsb2_tasks_autoload.install(); "
    )


def test_module_is_whole_before_and_after_our_step(tmp_path: Path, folder: Path) -> None:
    command = _fake_host(tmp_path, "DONE = 1", "def register_models(module):\n    module.SEEN = module.DONE")
    body = (
        "import importlib, inspect, json, lm_eval.models as m; loader = type(m.__loader__).__name__; "
        "same = m.__spec__.loader is m.__loader__; source = inspect.getsource(m).strip(); first = m.SEEN; del m.SEEN; "
        "importlib.reload(m); print(json.dumps([loader, same, source, first, m.SEEN]))"
    )
    assert json.loads(checked([*command, _start(tmp_path, folder) + body])) == ["SourceFileLoader", True, "DONE = 1", 1, 1]


def test_fault_of_ours_is_told_and_survived(tmp_path: Path, folder: Path) -> None:
    command = _fake_host(tmp_path, "", "def register_models(module):\n    raise RuntimeError('boom')")
    done = run([*command, _start(tmp_path, folder) + "import lm_eval.models; print('alive')"])
    assert (done.returncode, done.stdout) == (0, "alive\n")
    assert "could not extend lm_eval.models: RuntimeError: boom" in done.stderr
    silent = run([*command, _start(tmp_path, folder) + "sys.stderr = None; import lm_eval.models; print('alive')"])
    assert (silent.returncode, silent.stdout) == (0, "alive\n")


def test_fault_of_lm_eval_stays_its_own(tmp_path: Path, folder: Path) -> None:
    command = _fake_host(tmp_path, "raise ValueError('theirs')", "raise SystemExit('never imported')")
    body = "\ntry:\n    import lm_eval.models\nexcept ValueError as error:\n    print(error)"
    assert checked([*command, _start(tmp_path, folder) + body]) == "theirs\n"


def test_absent_lm_eval_is_an_ordinary_import_error(tmp_path: Path, folder: Path) -> None:
    body = "\ntry:\n    import lm_eval.models\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    assert checked([sys.executable, "-S", "-c", _start(tmp_path, folder) + body]) == "lm_eval\n"


@pytest.mark.slow
def test_start_of_python_imports_only_the_hook(regular: Environment, new_environment: Callable[[], Environment]) -> None:
    plain, hooked = new_environment().json(MODULES), regular.json(MODULES)
    assert set(hooked) - set(plain) == {"_dsb2_tasks_autoload"}


@pytest.mark.slow
def test_start_of_python_is_as_fast_as_before(
    regular: Environment, new_environment: Callable[[], Environment], capsys: pytest.CaptureFixture[str]
) -> None:
    """At most 1 ms, median of 200 paired runs; other load can only add, so the best of three rounds counts."""
    without = new_environment()

    def seconds(environment: Environment) -> float:
        start = time.perf_counter()
        subprocess.run([environment.python, "-c", "pass"], check=True, env={})
        return time.perf_counter() - start

    best = float("inf")
    for _ in range(3):
        # Order within a pair alternates, so that neither side always runs on the warmer cache.
        pairs = [
            (seconds(without), seconds(regular)) if i % 2 else (seconds(regular), seconds(without))[::-1] for i in range(200)
        ]
        extra = statistics.median(b - a for a, b in pairs)
        base = statistics.median(a for a, _ in pairs)
        with capsys.disabled():
            print(f"\npython -c pass: {base * 1e3:.2f} ms, with the hook {extra * 1e3:+.2f} ms (x{1 + extra / base:.3f})")
        best = min(best, extra)
        if best <= 1e-3:
            break
    assert best <= 1e-3
