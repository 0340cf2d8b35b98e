"""Short questions about a complex that many modules ask in the same way."""
import time

import pytest

from . import api


def refused(code, call, *args, **named):
    """The error of a call that must fail with this number."""
    with pytest.raises(api.PbsError) as e:
        call(*args, **named)
    assert e.value.code == code, e.value
    return e.value


def ended(cx, job):
    """Wait until the job has ended, and return what is left of it."""
    cx.wait_gone(job)
    return cx.stat(job)


def comment(cx, job):
    """The job's comment, "" if it has none."""
    return (cx.stat(job) or {}).get("comment", "")


def stat_resv(cx, resv):
    """The attributes of a reservation; None when it is gone."""
    try:
        return cx.api.stat("resv", resv)[0]
    except api.PbsError as e:
        assert e.code == 15084
        return None


def at(seconds):
    """So many seconds from now, as pbs_rsub -R and -E take it."""
    return time.strftime("%Y%m%d%H%M.%S", time.localtime(time.time() + seconds))
