"""Checks task files before anybody runs them: every fault with file, line, cause and fix.

:func:`validate` reads files of strangers: it imports and runs nothing but this package unless told to, opens nothing outside of
a file's own folder, and bounds what it reads.
"""

from dsb2_tasks.validation._finding import Finding, Outcome
from dsb2_tasks.validation._run import ValidationError, validate

__all__ = ["Finding", "Outcome", "ValidationError", "validate"]
