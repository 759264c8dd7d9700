"""All known tasks and groups, read from their YAML files in milliseconds; no data set is opened.

lm-eval's own index reads the same files but drops a broken one at debug level and costs a second of imports.  Here a
broken official file raises, and a broken file of somebody else's folder is kept as a :class:`Fault` and logged.
"""

from __future__ import annotations

import copy
import logging
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeGuard, get_args

import yaml

from dsb2_tasks.spec import EXTRA_SUITE, GENERATION_SUITE, OFFICIAL_SUITE, Kind, SpecError, TaskSpec, read_spec

log = logging.getLogger(__name__)

#: Suites whose tasks come from this package alone, so that nobody's folder can change what an official mean is of.
OWN_SUITES = frozenset({OFFICIAL_SUITE, EXTRA_SUITE, GENERATION_SUITE})

#: In ``dsb2_group.suite``: every suite that is not the package's own.
OTHER_SUITES = "*"

#: Environment variable with further task folders, separated like ``PATH``.
TASKS_PATH = "DSB2_TASKS_PATH"

#: Folder inside of the suite's own that is for everybody's tasks.
COMMUNITY_FOLDER = "community"

#: Folders of lm-eval's ``--include_path`` in this process; set by :mod:`dsb2_tasks.plugin`, which alone hears of them.
included: list[Path] = []

#: Bounds of a YAML file: bytes, values with aliases written out, and depth.
MAX_BYTES, MAX_NODES, MAX_DEPTH = 1 << 20, 50_000, 50
#: Digits of a whole number in it.
MAX_DIGITS = 100

#: What lm-eval's command line takes for one task and the names of its files can hold.
_TASK_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
#: Bytes of it: names of files end at 255, and lm-eval adds a date.
_LONGEST_NAME = 200


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
        suite: Suite whose tasks are meant; :data:`OTHER_SUITES` for all that are not the package's own.
        domain: Domain whose tasks are members (a leaf group); with neither domain nor groups all tasks of the suite are.
        groups: Names of member groups (a parent group).
        tasks: Names of the tasks (a leaf group), where neither suite nor domain says which.
        mean: A metric that all tasks count alike, whose plain mean the group shows.
    """

    title: str
    suite: str
    domain: str | None = None
    groups: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    mean: str | None = None


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
        """Names of the tasks of a suite, or of one domain of it; :data:`OTHER_SUITES` are all but the package's own."""
        wanted = {task.spec.suite for task in self.tasks.values()} - OWN_SUITES if suite == OTHER_SUITES else {suite}
        specs = {name: task.spec for name, task in self.tasks.items() if task.spec.suite in wanted}
        return [name for name, spec in specs.items() if domain in (None, spec.domain)]

    def chosen(self, spec: GroupSpec) -> list[str]:
        """Names of the tasks of a leaf group."""
        return list(spec.tasks) or self.tasks_of(spec.suite, spec.domain)

    def members(self, group: str) -> list[str]:
        """Names of all tasks below a group, each once.

        Raises:
            KeyError: The group, or one that it names, does not exist.
        """
        spec = self.groups[group].spec
        if not spec.groups:
            return self.chosen(spec)
        return list(dict.fromkeys(name for child in spec.groups for name in self.members(child)))


@lru_cache(maxsize=1)
def yaml_root() -> Path:
    """The folder of the suite's own YAML files: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "yaml_tasks"
    return inside if inside.is_dir() else package.parent / "yaml_tasks"


def is_own(path: Path) -> bool:
    """Whether a file belongs to the package itself."""
    return path.resolve().is_relative_to(yaml_root().resolve()) and not _in_community(path)


def _in_community(path: Path) -> bool:
    return path.is_relative_to(yaml_root() / COMMUNITY_FOLDER)


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


def _bounded_int(loader: _Loader, node: yaml.Node) -> int:
    """A whole number; one of a thousand digits cannot be printed, and one of a million in base 60 takes minutes to read."""
    if len(node.value) > MAX_DIGITS:
        raise yaml.constructor.ConstructorError(None, None, f"a number of more than {MAX_DIGITS} digits", node.start_mark)
    return int(loader.construct_yaml_int(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _bounded_int)


def load_config(path: Path, _seen: set[Path] | None = None) -> dict[str, Any]:
    """Reads a YAML mapping with its ``include`` chain merged as lm-eval merges it (shallowly, the file itself wins).

    Raises:
        SpecError: The file cannot be read or is no mapping; an include is missing, or met a second time, which lm-eval
            takes for a circle.
    """
    config = _read_mapping(path)
    seen = {path.resolve()} if _seen is None else _seen
    merged: dict[str, Any] = {}
    for include in includes_of(config):
        target = find_file(path.parent / include)
        if target is None:
            raise SpecError(f"{path}: include: {include!r} does not exist (looked for {path.parent / include})")
        if target in seen:
            raise SpecError(f"{path}: include: {include!r} is included twice, or includes itself: lm-eval reads each file once")
        seen.add(target)
        merged.update(load_config(target, seen))
    return {key: value for key, value in {**merged, **config}.items() if key != "include"}


def find_file(path: Path) -> Path | None:
    """The file that a path names, links followed; None where there is none, and for names that no file can have."""
    try:
        target = path.resolve()
        return target if target.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def includes_of(config: dict[str, Any]) -> list[str]:
    """Paths that a file includes, as written, in order."""
    includes = config.get("include", [])
    return [str(include) for include in (includes if isinstance(includes, list) else [includes])]


def _read_mapping(path: Path) -> dict[str, Any]:
    try:
        stamp = path.stat()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror or error})") from None
    return copy.deepcopy(_parse(path, stamp.st_mtime_ns, stamp.st_size))  # lm-eval updates generation_kwargs in place


@lru_cache(maxsize=1024)
def _parse(path: Path, _modified: int, _size: int) -> dict[str, Any]:
    """One YAML file; the cache key holds what changes with the file, so templates are parsed once for all their tasks."""
    node = compose(path)
    for key, line, first in repeated_keys(node):
        raise SpecError(f"{path}: line {line}: key {key!r:.80} {TWICE} {first}; leave one of them out", line=line)
    try:
        return dict(_Loader(b"").construct_document(node))
    except Exception as error:  # PyYAML's conversions (!!int '', !!bool x) raise whatever they stumble over
        raise _no_yaml(path, error) from None


def compose(path: Path) -> yaml.MappingNode:
    """The nodes of a YAML file, which know their lines.  A stranger's file can neither fill the memory nor the stack.

    Raises:
        SpecError: It cannot be read, is no mapping, or is larger than any task file.
    """
    if path.exists() and not path.is_file():  # opening a pipe would wait for somebody to write into it
        raise SpecError(f"{path}: cannot be read (it is a folder, pipe or device)")
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise SpecError(f"{path}: larger than {MAX_BYTES >> 20} MiB, which no task file is")
        node = yaml.compose(text, _Loader)
        nodes, depth = _measure(node, {}) if node else (0, 0)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _no_yaml(path, error) from None
    except RecursionError:
        depth = MAX_DEPTH + 1
    if depth > MAX_DEPTH:
        raise SpecError(f"{path}: nested too deeply, or an alias (*name) contains itself")
    if nodes > MAX_NODES:
        raise SpecError(f"{path}: more than {MAX_NODES} values with its aliases (*name) written out, which no task file has")
    if not isinstance(node, yaml.MappingNode):
        raise SpecError(f"{path}: a mapping is needed, found {_NODE_NAMES.get(type(node), 'nothing')}", line=1)
    return node


#: What is wrong with a key that stands twice; a line number follows.
TWICE = "stands twice in one block, first in line"
_MERGE = "tag:yaml.org,2002:merge"


def repeated_keys(node: yaml.Node) -> Iterator[tuple[str, int, int]]:
    """Keys that stand twice in one mapping, with both lines; YAML keeps the last and says nothing."""
    visited: set[int] = set()
    waiting: list[yaml.Node] = [node]
    while waiting:
        at = waiting.pop()
        if id(at) in visited or isinstance(at, yaml.ScalarNode):
            continue
        visited.add(id(at))
        if isinstance(at, yaml.SequenceNode):
            waiting += at.value
            continue
        lines: dict[str, int] = {}
        for name, value in at.value:
            waiting.append(value)
            if not isinstance(name, yaml.ScalarNode) or name.tag == _MERGE:  # of two "<<" both count
                continue
            line = name.start_mark.line + 1
            if name.value in lines:
                yield name.value, line, lines[name.value]
            lines[name.value] = line


_NODE_NAMES = {yaml.ScalarNode: "a text", yaml.SequenceNode: "list"}


def _measure(node: yaml.Node, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Number of nodes and depth, aliases written out; each node is visited once."""
    if isinstance(node, yaml.ScalarNode):
        return 1, 1
    if id(node) not in known:
        children = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
        sizes = [_measure(child, known) for child in children]
        known[id(node)] = 1 + sum(size for size, _ in sizes), 1 + max((depth for _, depth in sizes), default=0)
    return known[id(node)]


def _no_yaml(path: Path, error: Exception) -> SpecError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark else None
    what = getattr(error, "problem", None) or " ".join(str(error).split())
    return SpecError(f"{path}: not valid YAML{f' in line {line}' if line else ''}: {what}", line=line)


def template(kind: str) -> dict[str, Any]:
    """The packaged template of an output kind, for task files that include none.

    Raises:
        SpecError: There is no template of that kind.
    """
    if kind not in (known := get_args(Kind)):
        raise SpecError(f"no template for kind {kind!r:.80}; there are {', '.join(sorted(known))}")
    return load_config(yaml_root() / f"_{kind}.yaml")


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
    except SpecError as error:
        raise SpecError(f"{where}: dsb2.kind: {error}") from None
    settings = config.get("generation_kwargs") or {}
    if not isinstance(settings, dict):
        raise SpecError(f"{where}: generation_kwargs: a mapping is needed, found {settings!r:.200}")
    del base["dsb2_base"]  # where the facts of the suite's own files come from says nothing of anybody else's
    return {**base, **config, "generation_kwargs": {**base["generation_kwargs"], **settings}}


def _version(config: dict[str, Any]) -> str:
    metadata = config.get("metadata")
    return str(metadata.get("version", 0)) if isinstance(metadata, dict) else "0"


def is_task_name(name: object) -> TypeGuard[str]:
    """Whether a task or group may be called so: its name is part of command lines and of names of files."""
    return isinstance(name, str) and _TASK_NAME.fullmatch(name) is not None and len(name.encode()) <= _LONGEST_NAME


def name_of(config: dict[str, Any], where: str | Path) -> str:
    """The name of a task or group.

    Raises:
        SpecError: It cannot be one.
    """
    if not is_task_name(name := config["task"]):
        raise SpecError(f"{where}: task: {name!r:.80} is no name of a task; use letters, digits, '_', '-' and '.' alone")
    return name


def read_group(path: Path, config: dict[str, Any]) -> GroupEntry:
    """Reads a group file's mapping.

    Raises:
        SpecError: The ``dsb2_group:`` block is missing, incomplete or holds unknown keys.
    """
    block = config.get("dsb2_group")
    known = GroupSpec.__dataclass_fields__
    if not isinstance(block, dict) or (unknown := set(block) - set(known)):
        detail = f"unknown keys {sorted(map(str, unknown))!r:.200}" if isinstance(block, dict) else "no mapping"
        raise SpecError(f"{path}: dsb2_group: {detail}; known keys: {', '.join(known)}")
    if "title" not in block or "suite" not in block or len({"domain", "groups", "tasks"} & set(block)) > 1:
        raise SpecError(f"{path}: dsb2_group: title, suite and at most one of domain, groups and tasks are needed")
    for key in ("groups", "tasks"):
        names = block.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise SpecError(f"{path}: dsb2_group.{key}: a list of names is needed, found {block[key]!r:.200}")
    for key in ("domain", "mean"):
        if not isinstance(block.get(key), str | None):
            raise SpecError(f"{path}: dsb2_group.{key}: a name is needed, found {block[key]!r:.200}")
    spec = GroupSpec(
        title=str(block["title"]),
        suite=str(block["suite"]),
        domain=block.get("domain"),
        groups=tuple(block.get("groups", ())),
        tasks=tuple(block.get("tasks", ())),
        mean=block.get("mean"),
    )
    return GroupEntry(name_of(config, path), path, _version(config), spec, config)


def tags_of(config: dict[str, Any], where: str | Path) -> tuple[str, ...]:
    """The tags of a task.

    Raises:
        SpecError: They are neither a text nor a list of texts.
    """
    tags = config.get("tag") or []
    tags = [tags] if isinstance(tags, str) else tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise SpecError(f"{where}: tag: a text or a list of texts is needed, found {tags!r:.200}")
    return tuple(tags)


def read_task(path: Path, config: dict[str, Any]) -> TaskEntry:
    """Reads a task file's mapping.

    Raises:
        SpecError: The ``dsb2:`` block is wrong.
    """
    config = complete(config, path)
    return TaskEntry(
        name=name_of(config, path),
        path=path,
        tags=tags_of(config, path),
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
    tasks: dict[str, TaskEntry] = {}
    groups: dict[str, GroupEntry] = {}
    faults: list[Fault] = []
    for path in (path for root in (search_paths() if paths is None else paths) for path in task_files(root)):
        try:
            config = load_config(path)
            if not is_ours(config):
                continue
            taken = tasks.get(str(config["task"])) or groups.get(str(config["task"]))
            if taken is not None and _in_community(path) and is_own(taken.path):
                raise SpecError(f"{path}: task: {config['task']!r} is a name of the package's own; give yours another")
            if "dsb2_group" in config:
                group = read_group(path, config)
                groups[group.name] = group
            else:
                task = read_task(path, config)
                if task.spec.suite in OWN_SUITES and not is_own(path):
                    raise SpecError(f"{path}: dsb2.suite: {task.spec.suite!r} is an official suite; give yours another name")
                tasks[task.name] = task
        except SpecError as error:
            if is_own(path):
                raise
            _warn_once(f"task file left out: {error}")
            faults.append(Fault(path, str(error)))
    return Catalog(dict(sorted(tasks.items())), dict(sorted(groups.items())), faults)


def task_files(folder: Path) -> list[Path]:
    """YAML files below a folder that may hold a task, not those that only serve as templates (``_*.yaml``)."""
    files = [path for path in folder.glob("**/*.yaml") if not path.name.startswith("_")]
    community = yaml_root() / COMMUNITY_FOLDER
    return sorted(files, key=lambda path: (community in path.parents, path))  # the package's own names are taken first


def is_ours(config: dict[str, Any]) -> bool:
    """Whether a mapping is a dsb2 task or group, and no task of another kind, template or YAML file of anything else."""
    return "task" in config and not {"dsb2", "dsb2_group"}.isdisjoint(config)
