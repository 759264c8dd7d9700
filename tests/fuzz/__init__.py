"""Fuzzing of what reads strangers' material: ``python -m tests.fuzz TARGET --engine hypothesis|atheris --minutes 10``.

A target says once what must hold for any bytes (``_answers``, ``_tasks``, ``_audio``, ``_records``); both engines and the
tests use it.  ``seeds/<target>/`` holds small inputs, made by hand or found by an engine, which the tests replay.
"""
