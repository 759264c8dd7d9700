"""The kind whose answer is one number."""

from __future__ import annotations

from collections.abc import Callable

from dsb2_tasks import metrics
from dsb2_tasks.hooks._kind import Case, Doc, Kind, LabelError, label_text
from dsb2_tasks.metrics import Row
from dsb2_tasks.parse import extract_number
from dsb2_tasks.spec import NumberSpec, TaskSpec

_COMPARED = ("mse", "mae", "rmse", "mape", "pcc", "srcc", "ccc", "kendall", "angular_mae", "exact_match")


def _form(spec: TaskSpec) -> NumberSpec:
    return spec.number or NumberSpec()


def _expected(form: NumberSpec) -> str:
    within = {
        (False, False): "",
        (True, False): f" of {form.minimum:g} or more" if form.minimum is not None else "",
        (False, True): f" of {form.maximum:g} or less" if form.maximum is not None else "",
        (True, True): f" from {form.minimum} to {form.maximum}",
    }[(form.minimum is not None, form.maximum is not None)]
    return f"one {'whole ' if form.integer else ''}number{within}{f' ({form.unit})' if form.unit else ''} (see dsb2.number)"


def _read_label(doc: Doc, spec: TaskSpec) -> float:
    form = _form(spec)
    text = label_text(doc, _expected(form))
    value, _ = _read_number(text, doc, spec)
    if value is None or len(text.split()) > 3 or (form.integer and not value.is_integer()):
        raise LabelError(_expected(form), text)
    return value


def _read_number(answer: str, doc: Doc, spec: TaskSpec) -> tuple[float | None, str]:
    form = _form(spec)
    value, status = extract_number(answer, lo=form.minimum, hi=form.maximum, unit=form.unit, noun=form.noun)
    return value, status if value is None else "ok"


def _pair(case: Case) -> Row:
    return metrics.number_row(case.reference, case.value)


def _clipped(case: Case) -> Row:
    form = _form(case.spec)
    low = float("-inf") if form.minimum is None else form.minimum
    high = float("inf") if form.maximum is None else form.maximum
    return metrics.clipped_row(_pair(case), low, high)


_ROWS: dict[str, Callable[[Case], Row]] = {
    **dict.fromkeys(_COMPARED, _pair),
    "mse_clipped": _clipped,
    "accuracy": lambda case: (float(case.reference == case.value),),
}

NUMBER = Kind(name="number", read_label=_read_label, read_answer=_read_number, rows=_ROWS, na=True)
