"""Jobs to be simulated, wherever they come from."""
import dataclasses
import math

JOBS_MAX = 2_000_000
# Longer than any job or trace; a number above it is damage.
SECONDS_MAX = 100 * 366 * 86400


class BadInput(Exception):
    """What the user gave cannot be used; the text names file and line."""


@dataclasses.dataclass(slots=True)
class Job:
    """A job of a workload. Times are seconds; `submit_s` counts from the begin of the workload."""
    submit_s: float
    run_s: float
    walltime_s: int
    cpus: int = 1
    select: str = ""         # as PBS writes it; "": made of cpus and mem_kb for the vnodes that there are
    place: str = ""
    mem_kb: int = 0          # of the whole job
    user: str = "user1"
    group: str = ""
    project: str = ""
    account: str = ""
    queue: str = ""          # "": the default queue
    status: int = 0
    after: int = 0           # number (from 1, in the list) of the job that it follows
    think_s: float = 0       # time between the end of that one and its submission
    origin: str = ""         # what it is called where it comes from
    started_s: float | None = None   # when it started there, from the begin of the workload


@dataclasses.dataclass(slots=True)
class Workload:
    """`begin_s` is the time of day that simulated time begins with, since the epoch; notes are for the reader of the report."""
    jobs: list
    begin_s: int
    notes: list


def read_lines(path):
    """Number and text of each line of a text file. BadInput: it cannot be read, or is no text."""
    try:
        with open(path, "rb") as f:
            for number, line in enumerate(f, 1):
                if b"\0" in line:
                    raise BadInput(f"{path}, line {number}: this is a binary file, not text")
                yield number, line.decode("utf-8", "replace").rstrip("\r\n")
    except OSError as e:
        raise BadInput(f"{path}: {e.strerror}") from e


def add(jobs, job, path, number):
    """Append a job that a line of a log tells of. BadInput: there are too many."""
    jobs.append(job)
    if len(jobs) > JOBS_MAX:
        raise BadInput(f"{path}, line {number}: more than {JOBS_MAX} jobs")


def from_log(jobs, notes):
    """The workload of jobs whose times are since the epoch: it begins with the first submission."""
    begin = int(min(j.submit_s for j in jobs))
    for job in jobs:
        job.submit_s -= begin
        job.started_s -= begin
    return Workload(in_order(jobs), begin, notes)


def in_order(jobs):
    """Sorted by submission, with `after` following its job; a job that follows a later one is independent."""
    order = sorted(range(len(jobs)), key=lambda i: (jobs[i].submit_s, i))
    place = {old + 1: new + 1 for new, old in enumerate(order)}
    out = [jobs[i] for i in order]
    for number, job in enumerate(out, 1):
        job.after = place.get(job.after, 0)
        if job.after >= number:
            job.after = 0
    return out


def parse_span(text):
    """Seconds of "HH:MM:SS", "D-HH:MM:SS" (Slurm), "MM:SS" or a number; None if it is none of them."""
    days, _, rest = text.rpartition("-")
    parts = rest.split(":")
    try:
        if days and not days.isdigit() or len(parts) > 3:
            return None
        if days:
            parts += ["0"] * (3 - len(parts))
        value = 0.0
        for part in parts:
            value = value * 60 + float(part)
    except ValueError:
        return None
    value += int(days or 0) * 86400
    return value if math.isfinite(value) and 0 <= value <= SECONDS_MAX else None


UNITS = {"b": 1 / 1024, "k": 1, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30, "p": 1 << 40}


def parse_size_kb(text):
    """Kilobytes of "16gb", "4096kb", "1.5G"; None if it is no size."""
    number = text.strip().lower().rstrip("bw")
    unit = UNITS.get(number[-1:], None)
    try:
        value = float(number[:-1] if unit is not None else number)
    except ValueError:
        return None
    value *= UNITS["b"] if unit is None else unit
    return int(value + 0.5) if math.isfinite(value) and value >= 0 else None
