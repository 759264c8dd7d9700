"""Starts a run with a model that prints the time of its first request and ends the process: ``lm_eval`` or ``dsb2``."""

import os
import sys
import time

import lm_eval.models  # noqa: F401 (lm-eval fills its registry only while that is empty, so before ours)
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


@register_model("probe")
class Probe(LM):
    MULTIMODAL = True

    def __init__(self, **_: object) -> None:
        super().__init__()

    def generate_until(self, requests: list) -> list[str]:
        print("first request at", time.time(), flush=True)
        os._exit(0)

    def loglikelihood(self, requests: list) -> list:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list) -> list:
        raise NotImplementedError


if __name__ == "__main__":
    command, sys.argv = sys.argv[1], [sys.argv[1], *sys.argv[2:]]
    if command == "lm_eval":
        from lm_eval.__main__ import cli_evaluate

        cli_evaluate()
    else:
        from dsb2_tasks.cli import main

        main()
