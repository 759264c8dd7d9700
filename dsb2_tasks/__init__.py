"""The 180 Dynamic-SUPERB Phase-2 tasks as a plugin suite for lm-evaluation-harness.

Importing this package imports neither torch nor datasets nor lm-eval; each part is imported where it is used.
"""

__version__ = "0.1.0"
