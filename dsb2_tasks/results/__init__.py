"""Results of a run, read back: numbers, how answers were read, and the logged samples where there are any.

What is read was written by lm-eval and may have been edited or made by somebody else, so every type is checked; a fault
is named with its file and place.  No data set is opened, no audio touched, and neither torch nor lm-eval is needed.
"""

from __future__ import annotations

from dsb2_tasks.results._check import beyond_best, fault_in_rows
from dsb2_tasks.results._logged import samples_file
from dsb2_tasks.results._run import Reading, ResultsError, Run, Sample, TaskResult
from dsb2_tasks.results._submission import make_submission, read_run
from dsb2_tasks.results._values import JsonNumber, as_json, as_json_whole, as_number, document_key, finite, printable, read_json

__all__ = [
    "JsonNumber",
    "Reading",
    "ResultsError",
    "Run",
    "Sample",
    "TaskResult",
    "as_json",
    "as_json_whole",
    "as_number",
    "beyond_best",
    "document_key",
    "fault_in_rows",
    "finite",
    "make_submission",
    "printable",
    "read_json",
    "read_run",
    "samples_file",
]
