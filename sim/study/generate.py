"""Workloads by the model of Lublin and Feitelson: "The workload on parallel supercomputers: modeling the characteristics of
rigid jobs", Journal of Parallel and Distributed Computing 63 (2003), 1105-1122. Its constants are those of
the model in which batch and interactive jobs are not told apart, as in the authors' program m_lublin99.c
(https://www.cs.huji.ac.il/labs/parallel/workload/m_lublin99/); they were compared with GridSim's port of it, WorkloadLublin99.java.

Sizes: a share of serial jobs, else a two-stage uniform distribution of log2(size), mostly rounded to powers of two.
Run times: hyper-gamma, whose share of the short branch depends on the size. Arrivals: gamma gaps in rush hours, weighted by the
hour of the day. A week has weekends, when half as many jobs come (not of the paper).
"""
import bisect
import math
import random

from .workload import BadInput, JOBS_MAX, SECONDS_MAX, Job, Workload

SERIAL, POWER_OF_TWO = 0.244, 0.576
U_LOW, U_PROB, U_MED_BELOW_HIGH = 0.8, 0.86, 2.5
A1, B1, A2, B2, PA, PB = 4.2, 0.94, 312.0, 0.03, -0.0054, 0.78
ARR_A, ARR_B = 10.2303 * 1.0225, 0.4871   # of rush hours, and the ratio to all hours
BUCKETS = 48
CYCLE_A, CYCLE_B = 8.1737, 3.9631
DAY_STARTS = 11   # the first of its 48 half hours, counted from 1: that which begins at five
RUN_MAX_LN, GAP_MAX_LN = 12, 13   # longer ones are drawn again, as in the model
WEEKEND = 0.5
OVERESTIMATE = (1, 1, 1.5, 2, 3, 5, 10)
ASKED_S = (300, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 604800)
DEFAULTS = {"jobs": 1000, "users": 20, "seed": 1, "load": 0.0, "days": 0.0, "scale": 0.0}
MONDAY_S = 1_767_571_200   # 2026-01-05 00:00 UTC


def parse(text):
    """"jobs=5000,users=30,load=0.8,days=30": a dict of all settings. BadInput says which are possible."""
    out = dict(DEFAULTS)
    for word in filter(None, text.split(",")):
        key, eq, value = word.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if key not in out or not eq or not (math.isfinite(number) and number >= 0):
            raise BadInput(f"generate:{text}: \"{word}\" is none of {', '.join(f'{k}=NUMBER' for k in out)}")
        out[key] = type(DEFAULTS[key])(number)
    if not 1 <= out["jobs"] <= JOBS_MAX or out["users"] < 1:
        raise BadInput(f"generate:{text}: jobs are 1 to {JOBS_MAX}, users are 1 or more")
    return out


def _hours():
    """The weight of each half hour of a day, 1 on average: gamma of its number, in the middle; a night belongs to the day before."""
    def density(x):
        return x ** (CYCLE_A - 1) * math.exp(-x / CYCLE_B)
    weights = [density(i if i >= DAY_STARTS else i + BUCKETS) for i in range(1, BUCKETS + 1)]
    return [w * BUCKETS / sum(weights) for w in weights]


def _size(rng, biggest):
    if biggest < 2 or rng.random() < SERIAL:
        return 1
    high = math.log2(biggest)
    middle = max(high - U_MED_BELOW_HIGH, U_LOW)
    x = rng.uniform(U_LOW, middle) if rng.random() < U_PROB else rng.uniform(middle, high)
    return max(1, min(biggest, 2 ** round(x) if rng.random() < POWER_OF_TWO else round(2 ** x)))


def _run_s(rng, size):
    p = PA * size + PB   # of a wide job it is below 0: none is short
    while True:
        x = rng.gammavariate(A1, B1) if rng.random() < p else rng.gammavariate(A2, B2)
        if x <= RUN_MAX_LN:
            return max(1.0, math.exp(x))


def _asked_s(wanted):
    """Users ask for round times."""
    at = bisect.bisect_left(ASKED_S, wanted)
    return ASKED_S[at] if at < len(ASKED_S) else int(wanted) + 1


def _gap_ln(rng):
    while True:
        x = rng.gammavariate(ARR_A, ARR_B)
        if x <= GAP_MAX_LN:
            return x


def _arrivals(rng, n):
    """Times of n arrivals, in seconds; gaps are those of the model, and pass faster in busy hours."""
    hours, out, t = _hours(), [], 8 * 3600.0
    for _ in range(n):
        gap = math.exp(_gap_ln(rng))
        while gap > 0:   # through the half hours, each with its own speed
            bucket = int(t // 1800)
            weight = hours[bucket % BUCKETS] * (WEEKEND if bucket // BUCKETS % 7 >= 5 else 1)
            rest = (bucket + 1) * 1800 - t
            if gap <= rest * weight:
                t += gap / weight
                gap = 0
            else:
                gap -= rest * weight
                t = (bucket + 1) * 1800.0
        out.append(t)
    return [x - out[0] for x in out] if out else out


def _stretches(settings, jobs, cluster_cpus):
    """By what the time between arrivals and the run times of these jobs are to be multiplied."""
    span = jobs[-1].submit_s or 1.0
    gaps, runs = settings["scale"] or 1.0, 1.0
    work = sum(j.cpus * round(j.run_s) for j in jobs)
    if settings["days"]:
        gaps = settings["days"] * 86400 / span
    elif settings["load"]:
        gaps = work / (settings["load"] * cluster_cpus * span)
    if settings["days"] and settings["load"]:
        runs = settings["load"] * cluster_cpus * span * gaps / work
    if max(span * gaps, max(j.run_s for j in jobs) * runs) > SECONDS_MAX:
        raise BadInput("generate: these settings stretch the workload beyond a hundred years")
    return gaps, runs


def generate(settings, seed, cluster_cpus):
    """A Workload for a cluster of this many cpus. `load`: offered share of it, reached by stretching time between arrivals; `days`:
    its length. With both the time between arrivals makes the length and the run times make the load: a machine of many short jobs.
    """
    rng = random.Random(f"{settings['seed']}.{seed}")
    n = settings["jobs"]
    weights = [1 / (1 + i) for i in range(settings["users"])]   # a few users have most of the jobs
    people = rng.choices(range(1, settings["users"] + 1), weights, k=n)
    jobs, margins = [], []
    for number, (t, who) in enumerate(zip(_arrivals(rng, n), people), 1):
        size = _size(rng, cluster_cpus)
        run = _run_s(rng, size)
        margins.append(rng.choice(OVERESTIMATE))   # users ask for more than they need, mostly
        jobs.append(Job(submit_s=t, run_s=run, walltime_s=0, cpus=size, user=f"user{who}", group=f"group{1 + who % 4}", origin=str(number)))
    gaps, runs = _stretches(settings, jobs, cluster_cpus)
    for job, margin in zip(jobs, margins):
        run = max(1.0, job.run_s * runs)
        job.submit_s, job.run_s, job.walltime_s = round(job.submit_s * gaps), round(run), _asked_s(run * margin)
    return Workload(jobs, MONDAY_S + 8 * 3600, [])
