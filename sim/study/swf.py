"""Standard Workload Format: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html

A line is a job of 18 fields, -1 is unknown; header comments are "; Name: value".
"""
import re

from .workload import BadInput, SECONDS_MAX, Job, Workload, add, in_order, read_lines

FIELDS = 18
(NUMBER, SUBMIT, WAIT, RUN, USED_CPUS, _, USED_MEM, CPUS, TIME, MEM, STATUS, USER, GROUP, _, QUEUE, _, AFTER,
 THINK) = range(FIELDS)
CANCELLED = 5


def _numbers(path, number, line):
    words = line.split()
    if len(words) != FIELDS:
        raise BadInput(f"{path}, line {number}: {len(words)} fields; a job of the Standard Workload Format has {FIELDS}"
                       + (" (is the file cut off?)" if len(words) < FIELDS else ""))
    try:
        values = [float(w) for w in words]
    except ValueError:
        raise BadInput(f"{path}, line {number}: a field is not a number") from None
    for value, word in zip(values, words):
        if not -1 <= value <= 1e15:
            raise BadInput(f"{path}, line {number}: {word} is neither -1 (unknown) nor a number from 0 on")
    for name, at in (("submit time", SUBMIT), ("run time", RUN), ("requested time", TIME), ("think time", THINK)):
        if values[at] > SECONDS_MAX:
            raise BadInput(f"{path}, line {number}: the {name} {words[at]} is longer than a hundred years")
    return values


def _known(*values):
    return next((v for v in values if v >= 0), None)


def _job(path, number, v):
    cpus = int(_known(v[CPUS] or -1, v[USED_CPUS]) or 0)
    if v[SUBMIT] < 0:
        raise BadInput(f"{path}, line {number}: the submit time is unknown")
    if v[RUN] < 0 or cpus < 1 or (v[STATUS] == CANCELLED and v[RUN] == 0):
        return None
    walltime = int(_known(v[TIME] or -1, v[RUN]))
    mem = _known(v[MEM], v[USED_MEM])
    return Job(submit_s=v[SUBMIT], run_s=v[RUN], walltime_s=max(walltime, 1), cpus=cpus, mem_kb=int(mem or 0) * cpus,
               user=f"user{int(v[USER])}" if v[USER] >= 0 else "user0",
               group=f"group{int(v[GROUP])}" if v[GROUP] >= 0 else "",
               queue=f"queue{int(v[QUEUE])}" if v[QUEUE] > 0 else "", think_s=max(v[THINK], 0),
               origin=str(int(v[NUMBER])), started_s=v[SUBMIT] + v[WAIT] if v[WAIT] >= 0 else None)


def read(path):
    """The jobs of the file; those that never ran or whose width is unknown are left out, and counted in the notes."""
    header, jobs, by_number, left_out, follows = {}, [], {}, 0, {}
    for number, line in read_lines(path):
        if line.lstrip().startswith(";"):
            found = re.match(r"\s*;\s*(\w+)\s*:\s*(.*)", line)
            if found:
                header.setdefault(found[1], found[2].strip())
            continue
        if not line.strip():
            continue
        values = _numbers(path, number, line)
        job = _job(path, number, values)
        if job is None:
            left_out += 1
            continue
        add(jobs, job, path, number)
        by_number[int(values[NUMBER])] = len(jobs)
        if values[AFTER] > 0:
            follows[len(jobs)] = int(values[AFTER])
    if not jobs:
        raise BadInput(f"{path}: there is no job in it")
    for at, before in follows.items():
        jobs[at - 1].after = by_number.get(before, 0)
    notes = [f"{left_out} jobs that never ran, or whose width is unknown, are left out"] if left_out else []
    start = header.get("UnixStartTime", "")
    return Workload(in_order(jobs), int(start) if start.isdigit() and 0 < int(start) < 1 << 32 else 0, notes)
