"""What the plugin does to lm-eval's task scan and model registry, against stand-ins of several host versions."""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from dsb2_tasks import plugin
from dsb2_tasks.catalog import TASKS_PATH, yaml_root


def host(discover: Callable[[], Sequence[Path]] | None = None) -> Any:
    """A stand-in of lm_eval.tasks.manager with the signature of 0.4.12 and 0.4.13."""

    class TaskManager:
        def __init__(
            self,
            verbosity: str | None = None,
            include_path: Any = None,
            include_defaults: bool = True,
            metadata: dict[str, Any] | None = None,
        ) -> None:
            """As lm-eval says."""
            self.seen = (verbosity, include_path, include_defaults, metadata)

    module: Any = ModuleType("lm_eval.tasks.manager")
    module.TaskManager = TaskManager
    if discover is not None:
        module.discover_plugin_task_paths = discover
    plugin.add_tasks(module)
    return module


def test_our_folder_joins_the_default_scan() -> None:
    assert host().TaskManager().seen == (None, [yaml_root()], True, None)


@pytest.mark.parametrize("given", ["mine", Path("mine"), ["mine"], ("mine",)])
def test_a_users_folder_comes_later_and_so_wins(given: Any) -> None:
    (_, paths, _, _) = host().TaskManager(include_path=given).seen
    assert paths == [yaml_root(), given if isinstance(given, (str, Path)) else given[0]]


def test_arguments_are_passed_on_by_position_and_by_name() -> None:
    manager = host().TaskManager
    assert manager("INFO", "mine", True, {"a": 1}).seen == ("INFO", [yaml_root(), "mine"], True, {"a": 1})
    assert manager(metadata={"a": 1}, include_path=None).seen == (None, [yaml_root()], True, {"a": 1})
    with pytest.raises(TypeError, match="nonsense"):
        manager(nonsense=1)


@pytest.mark.parametrize("call", [{"include_defaults": False}, {"include_defaults": False, "include_path": "mine"}])
def test_a_scan_without_defaults_is_left_alone(call: dict[str, Any]) -> None:
    assert host().TaskManager(**call).seen == (None, call.get("include_path"), False, None)


def test_added_once_and_still_documented() -> None:
    module = host()
    plugin.add_tasks(module)
    assert module.TaskManager().seen[1] == [yaml_root()]
    assert module.TaskManager.__init__.__doc__ == "As lm-eval says."


def test_subclasses_that_pass_their_arguments_up_are_served() -> None:
    class Mine(host().TaskManager):  # type: ignore[misc]
        pass

    assert Mine().seen[1] == [yaml_root()]


def test_further_folders_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    monkeypatch.setenv(TASKS_PATH, f"{one}:{two}")
    assert host().TaskManager(include_path="mine").seen[1] == [yaml_root(), one, two, "mine"]


@pytest.mark.parametrize("found", [yaml_root(), yaml_root().parent])
def test_steps_aside_where_the_host_finds_us(found: Path) -> None:
    assert host(lambda: [found]).TaskManager(include_path="mine").seen[1] == ["mine"]


@pytest.mark.parametrize("found", [[], [Path("/somewhere/else")], [yaml_root() / "speech"]])
def test_helps_where_the_host_does_not_find_us(found: list[Path]) -> None:
    assert host(lambda: found).TaskManager().seen[1] == [yaml_root()]


def test_unknown_host_is_told_and_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    class TaskManager:
        def __init__(self, roots: Any = None) -> None:
            self.roots = roots

    module: Any = ModuleType("lm_eval.tasks.manager")
    module.TaskManager = TaskManager
    init = TaskManager.__init__
    with caplog.at_level(logging.WARNING):
        plugin.add_tasks(module)
    assert TaskManager.__init__ is init
    assert "lm-eval>=0.4.12" in caplog.text


@pytest.mark.parametrize("version", ["0.4.11", "0.5.0.dev1", "0.5.0", "1.0"])
def test_another_version_of_lm_eval_is_told_and_left_alone(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import lm_eval.tasks.manager  # noqa: F401  # reads versions itself when it is imported first

    monkeypatch.setattr(importlib.metadata, "version", {"lm-eval": version}.__getitem__)
    module: Any = ModuleType("lm_eval.tasks.manager")
    module.TaskManager = type("TaskManager", (), {})
    with pytest.raises(
        plugin.UnsupportedVersion, match=rf"lm-eval {version} is installed.*pip install 'lm-eval>=0\.4\.12,<0\.5'"
    ):
        plugin.add_tasks(module)
    assert module.TaskManager.__init__ is object.__init__
    with pytest.raises(plugin.UnsupportedVersion):
        plugin.activate()


@pytest.mark.parametrize("version", ["0.4.12", "0.4.13.dev0", "0.4.13", "0.4.14"])
def test_versions_that_are_allowed(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", {"lm-eval": version}.__getitem__)
    assert host().TaskManager().seen[1] == [yaml_root()]


def test_the_versions_are_those_of_the_installation() -> None:
    needed = [Requirement(line) for line in importlib.metadata.requires("dsb2-tasks") or ()]
    bounds = {str(each.specifier) for each in needed if each.name == "lm-eval"}
    assert bounds == {str(SpecifierSet(plugin.LM_EVAL))}


@pytest.mark.parametrize(
    ("ours", "given", "expected"),
    [
        (["a"], [], ["a"]),
        (["a"], ["b"], ["a", "b"]),
        (["a"], ["a"], ["a"]),
        (["a"], ["b", "a"], ["b", "a"]),
        (["a"], ["b/../a"], ["b/../a"]),
        (["a"], ["."], ["."]),
        (["a"], ["a/speech"], ["a"]),
        (["a", "c"], ["ab"], ["a", "c", "ab"]),
    ],
)
def test_nothing_is_scanned_twice(
    ours: list[str], given: list[str], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert [str(p) for p in plugin.merge_paths([Path(p) for p in ours], given)] == expected


def test_a_link_to_our_folder_is_our_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(yaml_root())
    assert plugin.merge_paths([yaml_root()], [tmp_path / "link"]) == [tmp_path / "link"]


def test_models_join_lazily_and_leave_taken_names() -> None:
    import lm_eval.models
    from lm_eval.api import registry

    plugin.register_models(lm_eval.models)
    assert {"hf", *plugin.MODELS} <= set(registry.model_registry.keys())

    class Theirs:
        pass

    taken = registry.Registry("models")
    taken.register("hf-audio")(Theirs)
    original, registry.model_registry = registry.model_registry, taken
    try:
        plugin.register_models(lm_eval.models)
        assert taken.get("hf-audio") is Theirs
        assert "dsb2-audio" in taken
    finally:
        registry.model_registry = original


@pytest.mark.parametrize("name", sorted(plugin.MODELS))
def test_every_model_is_where_we_say(name: str) -> None:
    """The target must be the class's own address, or lm-eval refuses the class as a second owner of the name."""
    import lm_eval.models
    from lm_eval.api.model import LM
    from lm_eval.api.registry import get_model

    plugin.register_models(lm_eval.models)
    model = get_model(name)
    assert issubclass(model, LM)
    assert model.MULTIMODAL
    assert f"{model.__module__}:{model.__name__}" == plugin.MODELS[name]


def test_entry_points_say_the_same(repository: Path) -> None:
    import tomllib

    groups = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert groups["lm_eval.models"] == plugin.MODELS
    assert groups["lm_eval.tasks"] == {"dsb2": "dsb2_tasks"}
