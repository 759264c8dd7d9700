"""The commands of examples/multi_gpu name arguments that there are."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from dsb2_tasks.models.api import APIModel
from dsb2_tasks.models.hf_audio import HFAudio

CLASSES = {"hf-audio": HFAudio, "dsb2-api": APIModel}


def commands(repository: Path) -> list[str]:
    text = (repository / "examples/multi_gpu/README.md").read_text()
    return [line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


def test_model_arguments_are_known(repository: Path) -> None:
    asking = [line for line in commands(repository) if "--model " in line]
    assert len(asking) == 4
    for line in asking:
        model, arguments = re.search(r"--model (\S+) --model_args (\S+)", line).groups()
        taken = inspect.signature(CLASSES[model].__init__).parameters
        assert {argument.partition("=")[0] for argument in arguments.split(",")} <= set(taken), line


def test_every_inline_argument_is_known(repository: Path) -> None:
    text = (repository / "examples/multi_gpu/README.md").read_text()
    taken = set(inspect.signature(HFAudio.__init__).parameters)
    named = set(re.findall(r"[`,](\w+)=", text)) - {"base_url", "model", "concurrency"}
    assert named and named <= taken | {"pretrained"}


@pytest.mark.parametrize("option", ["--nproc_per_node", "--nnodes", "--node_rank", "--master_addr", "--master_port"])
def test_launcher_options_are_known(option: str) -> None:
    from torch.distributed.run import get_args_parser

    assert option.replace("_", "-") in get_args_parser().format_help() or option in get_args_parser().format_help()
