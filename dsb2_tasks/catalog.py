"""All known tasks and groups, read from their YAML files in milliseconds; no data set is opened.

lm-eval's own index reads the same files but drops a broken one at debug level and costs a second of imports.  Here a
broken official file raises, and a broken file of somebody else's folder is kept as a :class:`Fault` and logged.
"""

from __future__ import annotations

import copy
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from dsb2_tasks.spec import EXTRA_SUITE, GENERATION_SUITE, OFFICIAL_SUITE, SpecError, TaskSpec, read_spec

log = logging.getLogger(__name__)

#: Suites whose tasks come from this package alone, so that nobody's folder can change what an official mean is of.
OWN_SUITES = frozenset({OFFICIAL_SUITE, EXTRA_SUITE, GENERATION_SUITE})

#: Environment variable with further task folders, separated like ``PATH``.
TASKS_PATH = "DSB2_TASKS_PATH"


@dataclass(frozen=True)
class TaskEntry:
    """One task file.

    Attributes:
        name: lm-eval task name.
        path: The YAML file.
        tags: lm-eval tags.
        version: ``metadata.version``.
        spec: The checked ``dsb2:`` block.
    """

    name: str
    path: Path
    tags: tuple[str, ...]
    version: str
    spec: TaskSpec


@dataclass(frozen=True)
class GroupSpec:
    """The ``dsb2_group:`` block of a group file: its title and how its members are found.

    Attributes:
        title: Name shown to people.
        suite: Suite whose tasks are meant.
        domain: Domain whose tasks are members (a leaf group); with neither domain nor groups all tasks of the suite are.
        groups: Names of member groups (a parent group).
    """

    title: str
    suite: str
    domain: str | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupEntry:
    """One group file; ``config`` is its mapping."""

    name: str
    path: Path
    version: str
    spec: GroupSpec
    config: dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """A file of a further folder that could not be read."""

    path: Path
    reason: str


@dataclass
class Catalog:
    """Tasks and groups by name, in name order, and the files that could not be read."""

    tasks: dict[str, TaskEntry] = field(default_factory=dict)
    groups: dict[str, GroupEntry] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def tasks_of(self, suite: str, domain: str | None) -> list[str]:
        """Names of the tasks of a suite, or of one domain of it."""
        specs = {name: task.spec for name, task in self.tasks.items() if task.spec.suite == suite}
        return [name for name, spec in specs.items() if domain in (None, spec.domain)]

    def members(self, group: str) -> list[str]:
        """Names of all tasks below a group, each once.

        Raises:
            KeyError: The group, or one that it names, does not exist.
        """
        spec = self.groups[group].spec
        if not spec.groups:
            return self.tasks_of(spec.suite, spec.domain)
        return list(dict.fromkeys(name for child in spec.groups for name in self.members(child)))


def yaml_root() -> Path:
    """The folder of the suite's own YAML files: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "yaml_tasks"
    return inside if inside.is_dir() else package.parent / "yaml_tasks"


def search_paths() -> list[Path]:
    """The suite's folder, then the folders of ``DSB2_TASKS_PATH`` in order, each once."""
    more = [Path(p).expanduser().resolve() for p in os.environ.get(TASKS_PATH, "").split(os.pathsep) if p]
    for path in more:
        if not path.is_dir():
            _warn_once(f"{TASKS_PATH}: {path} is no folder, so no task is read from there")
    return list(dict.fromkeys([yaml_root(), *more]))


@lru_cache(maxsize=256)
def _warn_once(message: str) -> None:
    log.warning("%s", message)


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """Safe loader that keeps ``!function a.b`` as the text ``a.b``: the catalogue never runs code."""


_Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def load_config(path: Path, _above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Reads a YAML mapping with its ``include`` chain merged as lm-eval merges it (shallowly, the file itself wins).

    Raises:
        SpecError: The file cannot be read or is no mapping, an include is missing or goes round in a circle.
    """
    config = _read_mapping(path)
    includes = config.get("include", [])
    merged: dict[str, Any] = {}
    for include in includes if isinstance(includes, list) else [includes]:
        target = (path.parent / str(include)).resolve()
        if not target.is_file():
            raise SpecError(f"{path}: include: {include!r} does not exist (looked for {target})")
        if target in (path.resolve(), *_above):
            raise SpecError(f"{path}: include: {include!r} includes itself")
        merged.update(load_config(target, (*_above, path.resolve())))
    return {key: value for key, value in {**merged, **config}.items() if key != "include"}


def _read_mapping(path: Path) -> dict[str, Any]:
    try:
        stamp = path.stat()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror or error})") from None
    return copy.deepcopy(_parse(path, stamp.st_mtime_ns, stamp.st_size))  # lm-eval updates generation_kwargs in place


@lru_cache(maxsize=1024)
def _parse(path: Path, _modified: int, _size: int) -> dict[str, Any]:
    """One YAML file; the cache key holds what changes with the file, so templates are parsed once for all their tasks."""
    try:
        config = yaml.load(path.read_bytes(), Loader=_Loader)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise SpecError(f"{path}: not valid YAML: {error}") from None
    except RecursionError:
        raise SpecError(f"{path}: nested too deeply") from None
    if not isinstance(config, dict):
        raise SpecError(f"{path}: a mapping is needed, found {type(config).__name__}")
    return config


def template(kind: str) -> dict[str, Any]:
    """The packaged template of an output kind, for task files that include none.

    Raises:
        SpecError: There is no template of that kind.
    """
    path = yaml_root() / f"_{kind}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem[1:] for p in yaml_root().glob("_*.yaml") if p.stem != "_base"))
        raise SpecError(f"no template for kind {kind!r}; there are {known}")
    return load_config(path)


def complete(config: dict[str, Any], where: str | Path) -> dict[str, Any]:
    """A task's configuration with the template of its kind filled in where the file included none.

    This is what lets a community task be one short file anywhere on the disk.

    Raises:
        SpecError: ``dsb2.kind`` is missing or unknown in a file without a template.
    """
    if "dsb2_template" in config:
        return config
    own = config.get("dsb2")
    kind = own.get("kind") if isinstance(own, dict) else None
    if kind is None:
        raise SpecError(f"{where}: dsb2.kind: key is missing (needed where no template is included)")
    try:
        base = template(str(kind))
        settings = {**base["generation_kwargs"], **(config.get("generation_kwargs") or {})}
        return {**base, **config, "generation_kwargs": settings}
    except SpecError as error:
        raise SpecError(f"{where}: dsb2.kind: {error}") from None


def _version(config: dict[str, Any]) -> str:
    metadata = config.get("metadata")
    return str(metadata.get("version", 0)) if isinstance(metadata, dict) else "0"


def read_group(path: Path, config: dict[str, Any]) -> GroupEntry:
    """Reads a group file's mapping.

    Raises:
        SpecError: The ``dsb2_group:`` block is missing, incomplete or holds unknown keys.
    """
    block = config.get("dsb2_group")
    known = GroupSpec.__dataclass_fields__
    if not isinstance(block, dict) or (unknown := set(block) - set(known)):
        detail = f"unknown keys {sorted(unknown)}" if isinstance(block, dict) else "no mapping"
        raise SpecError(f"{path}: dsb2_group: {detail}; known keys: {', '.join(known)}")
    if "title" not in block or "suite" not in block or {"domain", "groups"} <= set(block):
        raise SpecError(f"{path}: dsb2_group: title, suite and at most one of domain and groups are needed")
    spec = GroupSpec(
        title=str(block["title"]),
        suite=str(block["suite"]),
        domain=block.get("domain"),
        groups=tuple(block.get("groups", ())),
    )
    return GroupEntry(str(config["task"]), path, _version(config), spec, config)


def _read_task(path: Path, config: dict[str, Any]) -> TaskEntry:
    config = complete(config, path)
    tags = config.get("tag") or ()
    return TaskEntry(
        name=str(config["task"]),
        path=path,
        tags=(tags,) if isinstance(tags, str) else tuple(map(str, tags)),
        version=_version(config),
        spec=read_spec(config, path),
    )


def read_catalog(paths: Iterable[Path] | None = None) -> Catalog:
    """Reads every task and group file below ``paths``.

    Args:
        paths: Folders; :func:`search_paths` by default.  Files that are neither a dsb2 task nor a dsb2 group (an
            lm-eval task of another kind, a template) are passed over.

    Returns:
        The catalogue.  A name that stands in two folders means the later one, as in lm-eval.

    Raises:
        SpecError: A file of the suite's own folder is broken.
    """
    own = yaml_root().resolve()
    tasks: dict[str, TaskEntry] = {}
    groups: dict[str, GroupEntry] = {}
    faults: list[Fault] = []
    for root in search_paths() if paths is None else paths:
        for path in sorted(root.glob("**/*.yaml")):
            if path.name.startswith("_"):
                continue
            try:
                config = load_config(path)
                if "task" not in config or not ({"dsb2", "dsb2_group"} & set(config)):
                    continue
                if "dsb2_group" in config:
                    group = read_group(path, config)
                    groups[group.name] = group
                else:
                    task = _read_task(path, config)
                    if task.spec.suite in OWN_SUITES and own not in path.resolve().parents:
                        raise SpecError(f"{path}: dsb2.suite: {task.spec.suite!r} is an official suite; give yours another name")
                    tasks[task.name] = task
            except SpecError as error:
                if own in path.resolve().parents:
                    raise
                _warn_once(f"task file left out: {error}")
                faults.append(Fault(path, str(error)))
    return Catalog(dict(sorted(tasks.items())), dict(sorted(groups.items())), faults)
