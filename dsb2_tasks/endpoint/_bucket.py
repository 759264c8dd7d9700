"""A token bucket: so many units a minute, evenly."""

from __future__ import annotations

from collections.abc import Callable


class Bucket:
    """Tells each taker how long to wait, in the order of asking.  What is not known beforehand can be settled later."""

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        """Starts full.

        Args:
            per_minute: Units that flow in; the bucket holds those of one second, but at least one unit.
            clock: Seconds, never running back.
        """
        self._rate = per_minute / 60
        self._size = max(1.0, self._rate)
        self._level = self._size
        self._clock = clock
        self._filled_at = clock()

    def take(self, amount: float) -> float:
        """Takes units out, into debt if need be.

        Returns:
            Seconds to wait until the debt is paid.  More than fits into the bucket is waited for only as far as it fits.
        """
        now = self._clock()
        self._level = min(self._size, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        missing = min(amount, self._size) - self._level
        self._level -= amount
        return max(0.0, missing / self._rate)

    def settle(self, difference: float) -> None:
        """Takes what was taken too little (or gives back what was too much, if negative)."""
        self._level -= difference
