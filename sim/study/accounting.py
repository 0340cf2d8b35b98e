"""PBS accounting logs, those of Cede and of OpenPBS: "MM/DD/YYYY HH:MM:SS;LETTER;id;key=value key=value"."""
import functools
import re
import time

from .workload import BadInput, SECONDS_MAX, Job, add, from_log, parse_size_kb, parse_span, read_lines

PAIR = re.compile(r'([\w.@-]+)=("[^"]*"|\'[^\']*\'|\S*)')
STATUS_LIMIT = 1000   # as sim_feed reads


@functools.lru_cache(maxsize=4096)
def _minute(text):
    """Seconds since the epoch of "MM/DD/YYYY HH:MM", in local time, as the log is written."""
    return int(time.mktime(time.strptime(text, "%m/%d/%Y %H:%M")))


def parse_time(text):
    return _minute(text[:16]) + int(text[17:19])


def read_records(path):
    """(line number, time, letter, identifier, text of the pairs) of each record. BadInput: this is no accounting log."""
    for number, line in read_lines(path):
        if not line:
            continue
        parts = line.split(";", 3)
        try:
            when = parse_time(parts[0])
        except (ValueError, OverflowError):
            when = None
        if when is None or len(parts) < 4 or len(parts[1]) != 1:
            raise BadInput(f"{path}, line {number}: this is no accounting record (\"MM/DD/YYYY HH:MM:SS;E;job;...\")")
        yield number, when, parts[1], parts[2], parts[3]


def pairs(text):
    return {k: v.strip("\"'") for k, v in PAIR.findall(text)}


def _whole(path, number, fields, key):
    text = fields.get(key, "")
    if not re.fullmatch(r"\d{1,12}", text):
        raise BadInput(f"{path}, line {number}: {key}={text or '(missing)'} is no time in seconds since the epoch")
    return int(text)


def _number(name):
    """For the order of jobs that were submitted in one second: "12[3].host" is (12, 3)."""
    found = re.match(r"(\d+)(?:\[(\d+)\])?", name)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _job(path, number, name, fields, was_stopped):
    """The Job of an E record, with times since the epoch; None if it never ran. It had its vnodes from start to end, or, where it
    was stopped meanwhile, as long as its walltime says."""
    start, end = _whole(path, number, fields, "start"), _whole(path, number, fields, "end")
    submit = _whole(path, number, fields, "etime" if fields.get("etime", "0") != "0" else "ctime")
    used = parse_span(fields.get("resources_used.walltime", ""))
    asked = parse_span(fields.get("Resource_List.walltime", ""))
    run = used if was_stopped and used is not None else end - start
    if start == 0 or run < 0 or end < start:
        return None
    if run > SECONDS_MAX:
        raise BadInput(f"{path}, line {number}: a run of {run:.0f} s is longer than a hundred years")
    cpus = fields.get("Resource_List.ncpus", "1")
    status = int(fields["Exit_status"]) if re.fullmatch(r"-?\d{1,6}", fields.get("Exit_status", "")) else 0
    project = fields.get("project", "")
    return Job(submit_s=submit, run_s=run, walltime_s=int(asked) if asked else 0, cpus=int(cpus) if cpus.isdigit() else 1,
               select=fields.get("Resource_List.select", ""), place=fields.get("Resource_List.place", ""),
               mem_kb=parse_size_kb(fields.get("Resource_List.mem", "")) or 0, user=fields.get("user", "user0"),
               group=fields.get("group", ""), project="" if project == "_pbs_project_default" else project,
               account=fields.get("account", ""), queue=fields.get("queue", ""),
               status=status if abs(status) <= STATUS_LIMIT else 1, origin=name, started_s=start)


def read(paths):
    """The jobs that ended (E) in these files; the requests are those of the record, and so is what each needed to run."""
    jobs, unfinished, stopped = [], set(), set()
    for path in paths:
        for number, _, letter, name, text in read_records(path):
            if letter == "S":
                unfinished.add(name)
            if letter in "zR":
                stopped.add(name)
            if letter != "E":
                continue
            unfinished.discard(name)
            if "[]" in name:   # the array as a whole: its subjobs have records of their own
                continue
            job = _job(path, number, name, pairs(text), name in stopped)
            stopped.discard(name)
            if job:
                add(jobs, job, path, number)
    if not jobs:
        raise BadInput(f"{', '.join(paths)}: no job has ended there (records E)")
    jobs.sort(key=lambda j: _number(j.origin))
    notes = [f"{len(unfinished)} jobs had not ended when the log does; they are left out"] if unfinished else []
    return from_log(jobs, notes)
