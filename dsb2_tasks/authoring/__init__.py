"""Writes the first version of a task file from data: what can be seen is filled in, what cannot is said in comments."""

from dsb2_tasks.authoring._draft import AuthoringError, Draft, Wishes, draft

__all__ = ["AuthoringError", "Draft", "Wishes", "draft"]
