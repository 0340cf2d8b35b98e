"""Waiting for a condition with a deadline. No test sleeps and hopes."""
import time

LIMIT_S = 120.0
PAUSE_S = 0.01


class Late(AssertionError):
    """A condition did not come true in time."""


def until(condition, what, limit_s=LIMIT_S):
    """Call `condition` until it returns something true, and return that.

    `what` says for people what was waited for; a callable is asked for it when it is too late.
    """
    end = time.monotonic() + limit_s
    pause = PAUSE_S
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise Late(f"waited {limit_s:g} s for: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.3, 0.1)
