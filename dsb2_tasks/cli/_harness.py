"""lm-eval's own ``run`` command with changes: where tasks are looked for, what overlaps, and when and how faults are told.

The rest is lm-eval's: its options, its way through a run, its files and tables.  What is replaced for the time of a run is
the task manager, and the two steps that turn arguments into it.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from unittest import mock

from lm_eval._cli.run import Run
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import setup_logging, simple_parse_args_string
from yaml import YAMLError

from dsb2_tasks import plugin
from dsb2_tasks.cli._tasks import WrongUse, unknown
from dsb2_tasks.models import store_folder, unwritable
from dsb2_tasks.sources import check_data

if TYPE_CHECKING:
    from dsb2_tasks.cli._manager import QuickManager

_EXAMPLES = """examples:
  # embedded samples and a random 1 MB model: does everything work?
  dsb2 run --tasks dsb2_spatial_audio --model hf-audio --model_args pretrained=tiny --data samples --limit 2

  # a real one, with a baseline that its tasks are compared with
  dsb2 run --tasks dsb2_speech --model hf-audio --model_args pretrained=Qwen/Qwen2-Audio-7B-Instruct,dtype=bfloat16 \\
      --device cuda:0 --batch_size 8 --output_path results --log_samples --baseline results_of_another_system.json

  # a group, one of its tasks, and another by wildcard: each task runs once
  dsb2 run --tasks dsb2_music,dsb2_spatial_audio,dsb2_superb_* --config run.yaml

  # several GPUs
  torchrun --nproc_per_node 4 -m dsb2_tasks.cli run --tasks dsb2 ...
"""


class NotSaved(RuntimeError):
    """A run is done, and lm-eval could not write what came out of it."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of two screens of usage."""
        raise WrongUse(f"{message} (all options: dsb2 run --help)")


def parser() -> argparse.ArgumentParser:
    """lm-eval's own parser of ``run`` with two options more."""
    commands = argparse.ArgumentParser().add_subparsers(parser_class=_Parser)
    Run.create(commands)
    found = commands.choices["run"]
    found.prog, found.usage, found.epilog = "dsb2 run", "dsb2 run --tasks TASK ... --model MODEL [options]", _EXAMPLES
    own = found.add_argument_group("dsb2")
    own.add_argument("--data", metavar="samples|hub|FOLDER", help="Where documents come from (--metadata data=...)")
    own.add_argument("--baseline", metavar="<file>", help="Results to compare with (--metadata baseline=...)")
    return found


def evaluate(parser: argparse.ArgumentParser, arguments: list[str]) -> None:
    """Runs lm-eval as ``lm_eval run`` does.

    Args:
        parser: From :func:`parser`.
        arguments: As typed.

    Raises:
        WrongUse: Arguments, task names or the model's name are wrong; told before a model is loaded or data are opened.
        NotSaved: The results could not be written.
    """
    setup_logging()
    try:
        options = _read(parser, arguments)
        _check_model(options)
        plugin.activate()
        from dsb2_tasks.cli._manager import QuickManager

        config = EvaluatorConfig.from_cli(options)
        with mock.patch("lm_eval.tasks.TaskManager", QuickManager):
            manager = config.process_tasks(config.metadata)
    except (ValueError, TypeError, FileNotFoundError, YAMLError) as error:
        if type(error).__module__.startswith("dsb2_tasks."):
            raise
        raise WrongUse(" ".join(str(error).split())) from error
    if config.limit is not None and config.limit <= 0:
        raise WrongUse(f"--limit {config.limit:g}: a number of documents of at least 1, or a share of them between 0 and 1")
    _check_output(config)
    check_data(str((config.metadata or {}).get("data") or "hub"))
    _check_samples(config, manager)
    _check_hearing(config, manager)
    with (
        mock.patch.object(EvaluatorConfig, "from_cli", lambda _: config),
        mock.patch.object(EvaluatorConfig, "process_tasks", lambda *_: manager),
        _saving(config),
    ):
        options.func(options)


def _read(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """The arguments, with ``--data`` and ``--baseline`` among the metadata of command line or configuration file."""
    options = parser.parse_args(arguments)
    given = {name: value for name in ("data", "baseline") if (value := vars(options).pop(name)) is not None}
    file = EvaluatorConfig.load_yaml_config(options.config) if options.config else {}
    options.model = options.model or file.get("model")
    if given:
        metadata = options.metadata or file.get("metadata") or {}
        options.metadata = {**(simple_parse_args_string(metadata) if isinstance(metadata, str) else metadata), **given}
    tasks = options.tasks if options.tasks is not None else file.get("tasks")
    named = tasks.split(",") if isinstance(tasks, str) else tasks
    if not isinstance(named, list) or not all(named) or not named:  # lm-eval takes an empty name for the folder it is in
        raise WrongUse("--tasks is missing or not all names, as in --tasks dsb2_speech,dsb2_music; all: dsb2 list --groups")
    return options


def _check_model(options: argparse.Namespace) -> None:
    models = importlib.import_module("lm_eval.models")
    plugin.register_models(models)
    from lm_eval.api.registry import model_registry

    if options.model is not None and str(options.model) not in model_registry:
        ours = ", ".join(plugin.MODELS)
        raise unknown("model", str(options.model), model_registry.keys(), f"models that take audio are {ours}")


def _check_output(config: EvaluatorConfig) -> None:
    """Refuses an output folder that cannot be written to; lm-eval finds out after the run, and ends as if all were well."""
    if config.output_path is None or os.environ.get("RANK", "0") != "0":  # only the first process writes there
        return
    path = Path(config.output_path)  # the same reading as lm-eval's
    if reason := unwritable(path.parent if path.suffix == ".json" else path):
        raise WrongUse(f"--output_path {path}: {reason}; name a folder that can be written to")


@contextmanager
def _saving(config: EvaluatorConfig) -> Iterator[None]:
    """Ends with an error where lm-eval could not save results: it notes so in its log and goes on, and so do its exit codes.

    Raises:
        NotSaved: Results or samples were not written.
    """
    said: list[str] = []

    def note(record: logging.LogRecord) -> bool:
        said.append(record.getMessage())
        return record.levelno >= logging.getLogger("lm_eval").getEffectiveLevel()

    tracker = logging.getLogger("lm_eval.loggers.evaluation_tracker")
    tracker.addFilter(note)
    tracker.setLevel(logging.INFO)  # at which the reason is told
    try:
        yield
    finally:
        tracker.removeFilter(note)
        tracker.setLevel(logging.NOTSET)
    faults = [" ".join(said[i : i + 2]) for i, text in enumerate(said) if text.startswith("Could not save")]
    if faults:
        model = config.model_args if isinstance(config.model_args, dict) else {}
        store = store_folder(model.get("resume", True), model.get("responses")) if config.model in plugin.MODELS else None
        kept = f"; answers are kept in {store} and not asked for again" if store is not None else ""
        raise NotSaved(
            f"--output_path {config.output_path}: the results are not all there ({len(faults)} files; first: {faults[0]}). Make "
            f"room or name another folder, and start the same command again{kept}"
        )


def _check_samples(config: EvaluatorConfig, manager: QuickManager) -> None:
    """Refuses ``--samples`` for what is no task, which lm-eval passes over: the tasks that are meant would run whole."""
    for name in config.samples or {}:
        if not manager.is_task(name):
            raise unknown("task in --samples", name, filter(manager.is_task, manager.all_tasks), "all names: dsb2 list")


def _check_hearing(config: EvaluatorConfig, manager: QuickManager) -> None:
    """Refuses a model without ears before it is loaded; lm-eval does after."""
    from lm_eval.api.registry import get_model

    if config.model in plugin.MODELS or not any(manager.is_ours(task) for task in config.tasks):
        return
    if not getattr(get_model(config.model), "MULTIMODAL", False):
        raise WrongUse(f"--model {config.model} takes no audio; models that do are {', '.join(plugin.MODELS)}")
