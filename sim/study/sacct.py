"""Slurm's `sacct --parsable2` (or --parsable): a header line with names of fields, then a line for each job, "|" between."""
import re
import time

from .workload import BadInput, Job, add, from_log, parse_size_kb, parse_span, read_lines

NEEDED = ("JobID", "Submit", "Start", "End")
USUAL = "JobID,Submit,Start,End,Timelimit,AllocCPUS,ReqMem,User,Group,Account,Partition,ExitCode,State"


def is_header(line):
    return "|" in line and set(NEEDED) <= set(line.rstrip("|").split("|"))


def _time(path, number, name, text):
    if text in ("Unknown", "None", ""):
        return None
    if re.fullmatch(r"\d{9,11}", text):   # SLURM_TIME_FORMAT=%s
        return int(text)
    try:
        return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S")))
    except (ValueError, OverflowError):
        raise BadInput(f"{path}, line {number}: {name}={text} is no time (2026-06-01T12:00:00)") from None


def _mem_kb(text, cpus):
    """ReqMem: 4G, or 4Gc of each cpu, 4Gn of each node."""
    found = re.fullmatch(r"([\d.]+[KMGTP]?)([cn]?)", text)
    size = parse_size_kb(found[1]) if found else None
    return (size or 0) * (cpus if found and found[2] == "c" else 1)


def _job(path, number, row):
    submit, start, end = (_time(path, number, k, row.get(k, "")) for k in ("Submit", "Start", "End"))
    if submit is None or start is None or end is None:
        return None
    if not submit <= start <= end:
        raise BadInput(f"{path}, line {number}: Submit, Start and End are not in this order")
    cpus = row.get("AllocCPUS") or row.get("ReqCPUS") or row.get("NCPUS") or "1"
    if not cpus.isdigit():
        raise BadInput(f"{path}, line {number}: {cpus} is no number of cpus")
    limit = parse_span(row.get("Timelimit", ""))
    status = row.get("ExitCode", "0:0").split(":")[0]
    elapsed = parse_span(row.get("Elapsed", ""))
    return Job(submit_s=submit, run_s=end - start if elapsed is None else elapsed, walltime_s=int(limit or 0),
               cpus=max(int(cpus), 1), mem_kb=_mem_kb(row.get("ReqMem", ""), max(int(cpus), 1)),
               user=row.get("User") or "user0", group=row.get("Group", ""), account=row.get("Account", ""),
               queue=row.get("Partition", "").split(",")[0], status=int(status) if status.isdigit() else 0,
               origin=row["JobID"], started_s=start)


def read(path):
    """The jobs; their steps (12.batch, 12.0) and jobs that have not ended are left out."""
    lines = read_lines(path)
    number, header = next(lines, (1, ""))
    if not is_header(header):
        raise BadInput(f"{path}, line {number}: no header with {', '.join(NEEDED)}; use sacct --parsable2 -o {USUAL}")
    names, jobs, left_out = header.rstrip("|").split("|"), [], 0
    for number, line in lines:
        if not line:
            continue
        words = line.split("|")
        if len(words) == len(names) + 1 and not words[-1]:
            words.pop()   # --parsable ends each line with "|"
        if len(words) != len(names):
            raise BadInput(f"{path}, line {number}: {len(words)} fields, the header has {len(names)}")
        row = dict(zip(names, words))
        if "." in row["JobID"]:
            continue
        job = _job(path, number, row)
        left_out += job is None
        if job:
            add(jobs, job, path, number)
    if not jobs:
        raise BadInput(f"{path}: no job in it has ended")
    return from_log(jobs, [f"{left_out} jobs that never ran are left out"] if left_out else [])
