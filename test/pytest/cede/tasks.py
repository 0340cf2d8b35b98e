"""Jobs whose scripts use our own commands, and what they leave behind."""
from .wait import until


def start(cx, text, select="1:ncpus=1", **attrs):
    """A script that finds our commands and stands in the work directory; its errors are in its output."""
    return cx.submit(f"PATH={cx.build}/bin:$PATH\ncd {cx.work}\n" + text, select=select, Join_Path="oe", **attrs)


def output_of(cx, job, name="out"):
    """What a job has written, when it is over."""
    cx.wait_gone(job)
    return until(lambda: cx.file(name), f"the output of {job}")


def run(cx, text, select="1:ncpus=1", **attrs):
    """To its end; the output."""
    return output_of(cx, start(cx, text, select, **attrs))


def state_of(pid):
    """The letter of /proc, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return None


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


def is_gone(pid):
    return state_of(pid) in (None, "Z")


def stands_still(pid):
    """Frozen in its job's group, or stopped."""
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as f:
        return "pbs_" in f.read() or state_of(pid) == "T"
