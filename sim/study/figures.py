"""Numbers of a simulation, as plain data for JSON.

wait         seconds from the submission to the first start
slowdown     bounded: (wait + run + stopped) / max(run, 10 s), at least 1; run is what the job needs
utilisation  core-seconds used by jobs that run (not suspended), over cores x makespan
estimate     the start time that the scheduler gave a job first, against its start: median of the difference whichever way, and the
             shares that began earlier and later, by more than ESTIMATE_APART_S
fairness     Jain's index over users of the share of core-seconds reached over the share due; 1 is fair. The share due is the tree of
             resource_group where there is one, else each user's part of what all asked for
"""
import math
import statistics

SLOWDOWN_BOUND_S = 10
LONG_S = 3600
ESTIMATE_APART_S = 1   # logs have whole seconds
STEPS = 240          # points of a curve
GANTT_VNODES, GANTT_BARS = 48, 6000
SCATTER = 1500
METHODS = {"S": "suspended", "C": "checkpointed", "R": "requeued", "D": "deleted", "E": "ended by itself"}
# Student's t for 95 %, by degrees of freedom; beyond: 1.96.
T95 = (0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
       2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)


def _class_of(job, site):
    return ("long" if job.run_s >= LONG_S else "short") + (" wide" if job.cpus > site.widest() else " narrow")


def slowdown(record, job):
    if record.end_s is None:
        return None
    run = min(job.run_s, job.walltime_s or math.inf)
    return max(1.0, (record.end_s - record.submit_s) / max(run, SLOWDOWN_BOUND_S))


def _quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0.0


def _group(records, jobs):
    """Numbers of some jobs."""
    waits = [r.start_s - r.submit_s for r in records if r.start_s is not None]
    slow = [s for s in (slowdown(r, jobs[r.line - 1]) for r in records) if s is not None]
    preempted = [m for r in records for _, m in r.preempted]
    return {"jobs": len(records), "ended": sum(r.is_done() for r in records), "never_started": len(records) - len(waits),
            "wait_mean_s": _mean(waits), "wait_median_s": _quantile(waits, 0.5), "wait_p95_s": _quantile(waits, 0.95),
            "wait_max_s": max(waits, default=0.0),
            "response_mean_s": _mean([r.end_s - r.submit_s for r in records if r.is_done()]),
            "slowdown_mean": _mean(slow), "slowdown_median": _quantile(slow, 0.5), "slowdown_p95": _quantile(slow, 0.95),
            "core_hours": sum(_used_core_s(r) for r in records) / 3600,
            "lost_core_hours": sum(r.lost_core_s for r in records) / 3600, "preempted": len(preempted),
            **_estimates(records),
            "by_method": {METHODS.get(m, m): preempted.count(m) for m in sorted(set(preempted))}}


def _estimates(records):
    """How good the scheduler's estimates were, of jobs that had one and have started; None where no job had one."""
    late = [r.start_s - r.estimate_s for r in records if r.estimate_s is not None and r.start_s is not None]
    n = len(late)
    return {"estimated": n, "estimate_error_median_s": statistics.median(map(abs, late)) if n else None,
            "estimate_earlier": sum(s < -ESTIMATE_APART_S for s in late) / n if n else None,
            "estimate_later": sum(s > ESTIMATE_APART_S for s in late) / n if n else None}


def _mean(values):
    return statistics.fmean(values) if values else 0.0


def _used_core_s(r):
    return sum((end - begin) * r.cpus for begin, end, state, _ in r.runs if state == "run" and end is not None)


def jain(values):
    square = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * square) if square else 1.0


def _shares_due(users, records, jobs, tree):
    """Each user's share: of the tree of resource_group, or of the work asked for."""
    due = {u: tree.get(u) for u in users}
    if tree and all(v is not None for v in due.values()):
        weight = due
    else:
        weight = dict.fromkeys(users, 0.0)
        for r in records:
            weight[r.user] += r.cpus * jobs[r.line - 1].run_s
    total = sum(weight.values()) or 1.0
    return {u: w / total for u, w in weight.items()}


def parse_tree(text):
    """Share of each leaf of resource_group ("name id parent shares"), as part of the whole."""
    rows = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    rows = [r for r in rows if len(r) >= 4 and r[3].isdigit()]
    sums, parents = {}, {r[0]: (r[2], int(r[3])) for r in rows}
    for parent, shares in parents.values():
        sums[parent] = sums.get(parent, 0) + shares
    out = {}
    for name in parents:
        share, at, seen = 1.0, name, set()
        while at in parents and at not in seen:
            seen.add(at)
            share *= parents[at][1] / (sums[parents[at][0]] or 1)
            at = parents[at][0]
        if name not in sums:
            out[name] = share
    return out


def _fairness(records, jobs, tree, until):
    """By user: share due and reached until the last submission (afterwards all work is done, whatever the order)."""
    users = sorted({r.user for r in records})
    reached = dict.fromkeys(users, 0.0)
    for r in records:
        for begin, end, state, _ in r.runs:
            if state == "run":
                reached[r.user] += max(0.0, min(end if end is not None else until, until) - begin) * r.cpus
    total = sum(reached.values()) or 1.0
    due = _shares_due(users, records, jobs, tree)
    shares = {u: {"due": due[u], "reached": reached[u] / total} for u in users}
    return {"jain": jain([s["reached"] / s["due"] for s in shares.values() if s["due"] > 0]), "shares": shares}


def _steps(changes, length, points=STEPS):
    """[(time, value)]: mean of a step function, given as (time, +/-amount), in equal parts of `length`."""
    if length <= 0:
        return []
    width, out, at, value, i = length / points, [], 0.0, 0.0, 0
    changes = sorted(changes)
    for k in range(1, points + 1):
        until, total = k * width, 0.0
        while i < len(changes) and changes[i][0] <= until:
            total += value * (changes[i][0] - at)
            at, value = changes[i][0], value + changes[i][1]
            i += 1
        total += value * (until - at)
        at = until
        out.append([round(until - width / 2, 1), round(total / width, 3)])
    return out


def _curves(records, length):
    used, queued, suspended = [], [], []
    for r in records:
        for begin, end, state, _ in r.runs:
            stop = end if end is not None else length
            (used if state == "run" else suspended).extend([(begin, r.cpus), (stop, -r.cpus)])
        start = r.start_s if r.start_s is not None else length
        queued += [(r.submit_s, r.cpus), (start, -r.cpus)]
    return {"used_cpus": _steps(used, length), "queued_cpus": _steps(queued, length),
            "suspended_cpus": _steps(suspended, length)}


def gantt_vnodes(site):
    """The names of those that a Gantt shows."""
    return [name for name, _ in site.vnodes[:GANTT_VNODES]]


def _gantt(records, site, length):
    """Bars on the first vnodes: [vnode, begin, end, kind, line]; kind 0 run, 1 urgent, 2 suspended, 3 ends in preemption."""
    rows = {name: i for i, name in enumerate(gantt_vnodes(site))}
    express, bars = site.express_queues(), []
    for r in sorted(records, key=lambda r: r.submit_s):
        times = {when for when, method in r.preempted if method in "RCD"}
        for begin, end, state, vnodes in r.runs:
            stop = end if end is not None else length
            kind = 2 if state == "suspended" else 1 if r.queue in express else 3 if stop in times else 0
            bars += [[rows[v], begin, stop, kind, r.line] for v in vnodes if stop > begin]
        if len(bars) > GANTT_BARS:
            break
    return {"vnodes": list(rows), "bars": bars[:GANTT_BARS]}


def _dots(records, jobs):
    done = [r for r in records if r.start_s is not None]
    step = max(1, len(done) // SCATTER)
    return [[r.cpus, round(jobs[r.line - 1].run_s), round(r.start_s - r.submit_s, 1)] for r in done[::step]]


def of_simulation(trace, jobs, site, pictures=True):
    """All of one simulation."""
    records = sorted(trace.by_line.values(), key=lambda r: r.line)
    ends = [r.end_s for r in records if r.end_s is not None]
    first = min((r.submit_s for r in records), default=0.0)
    length = max(ends, default=0.0)
    makespan = length - first
    until = max((r.submit_s for r in records), default=0.0)
    express = site.express_queues()

    def by(key):
        groups = {}
        for r in records:
            groups.setdefault(key(r), []).append(r)
        return {k: _group(v, jobs) for k, v in sorted(groups.items())}
    out = {"all": _group(records, jobs), "makespan_s": makespan,
           "utilisation": sum(map(_used_core_s, records)) / (site.cpus() * makespan) if makespan > 0 else 0.0,
           "throughput_per_h": len(ends) / makespan * 3600 if makespan > 0 else 0.0,
           "fairness": _fairness(records, jobs, parse_tree(site.sched_files.get("resource_group", "")), until),
           "by_urgency": by(lambda r: "urgent" if r.queue in express else "other"), "by_queue": by(lambda r: r.queue),
           "by_user": by(lambda r: r.user), "by_class": by(lambda r: _class_of(jobs[r.line - 1], site))}
    if pictures:
        out |= {"curves": _curves(records, length), "gantt": _gantt(records, site, length), "dots": _dots(records, jobs)}
    return out


def interval(values):
    """(mean, half of the 95 % confidence interval; 0 for one value)."""
    if len(values) < 2:
        return (values[0] if values else 0.0), 0.0
    t = T95[len(values) - 1] if len(values) <= len(T95) else 1.96
    return statistics.fmean(values), t * statistics.stdev(values) / math.sqrt(len(values))
