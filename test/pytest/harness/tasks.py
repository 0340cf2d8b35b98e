"""Jobs whose scripts use our own commands, and what they leave behind."""
from .wait import until


def start(cx, text, select="1:ncpus=1", **attrs):
    """A script that finds our commands and stands in the work directory; its errors are in its output."""
    return cx.submit(f"PATH={cx.build}/bin:$PATH\ncd {cx.work}\n" + text, select=select, Join_Path="oe", **attrs)


def running(cx, text="sleep 600", select="1:ncpus=1", **attrs):
    """A job whose script has begun."""
    job = start(cx, "touch begun\n" + text, select, **attrs)
    until(lambda: cx.file("begun") is not None, "the script")
    return job


def output_of(cx, job, name="out"):
    """What a job has written, when it is over."""
    cx.wait_gone(job)
    return until(lambda: cx.file(name), f"the output of {job}")


def run(cx, text, select="1:ncpus=1", **attrs):
    """To its end; the output."""
    return output_of(cx, start(cx, text, select, **attrs))


def state_of(pid):
    """The letter of /proc, or None. It may vanish between opening and reading: that is another error."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


def is_gone(pid):
    return state_of(pid) in (None, "Z")


def stands_still(pid):
    """Frozen in its job's group, or stopped."""
    try:
        with open(f"/proc/{pid}/cgroup", encoding="ascii") as f:
            groups = [line.strip().split(":", 2) for line in f]
    except (FileNotFoundError, ProcessLookupError):
        return False
    for _, kinds, path in groups:
        v1 = "freezer" in kinds.split(",")
        if "pbs_" not in path or (kinds and not v1):
            continue  # of another controller
        name = mounted(v1) + path + ("/freezer.state" if v1 else "/cgroup.events")
        with open(name, encoding="ascii") as f:
            return ("FROZEN" if v1 else "frozen 1") in f.read()
    return state_of(pid) == "T"


def mounted(v1):
    """Where the freezer's groups are."""
    with open("/proc/mounts", encoding="ascii") as f:
        for line in f:
            _, where, kind, options = line.split()[:4]
            if kind == "cgroup2" and not v1 or kind == "cgroup" and v1 and "freezer" in options.split(","):
                return where
    return ""
