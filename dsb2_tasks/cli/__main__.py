"""``python -m dsb2_tasks.cli``: the same as ``dsb2``."""

from dsb2_tasks.cli import main

main(prog_name="dsb2")
