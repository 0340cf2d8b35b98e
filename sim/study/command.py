"""The command pbs_sim. `main` lists its steps: read, make variants, simulate, write."""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

from . import accounting, feed, figures, generate, page, report, sacct, site as sites, swf, variant
from .complex import Complex, Failed, Keeper
from .workload import BadInput, Workload, in_order, read_lines

GENERATE = "generate:"
BEGIN_S = 1_767_600_000   # 2026-01-05 08:00 UTC: of a workload that does not say
SHIFT_S = 1800
BAR, PAINT_S = 30, 0.2
EXIT_BAD, EXIT_USAGE = 1, 2


def parser():
    p = argparse.ArgumentParser(prog="pbs_sim", allow_abbrev=False,
                                description="Pass the days of a workload on a simulated cluster, as fast as the real server and "
                                "scheduler decide, and say what would have happened.")
    p.add_argument("--workload", nargs="+", action="extend", metavar="FILE", default=[],
                   help="SWF, PBS accounting logs, sacct --parsable2; or generate:jobs=5000,users=30,load=0.8,days=7,seed=1")
    p.add_argument("--cluster", action="append", metavar="WHAT", default=[],
                   help="'16*ncpus=8,mem=32gb', @FILE of such lines, @DIRECTORY of pbs_snapshot, or live")
    p.add_argument("--vary", action="append", metavar="CHANGE", default=[],
                   help="one more variant: lines of qmgr or sched_config, ';' between; '[name]' before them names it")
    p.add_argument("--sched-config", metavar="FILE", help="one more variant, with this sched_config")
    p.add_argument("--add-nodes", type=int, metavar="N", help="one more variant, with N vnodes more")
    p.add_argument("--urgent", metavar="SHARE", help="this share of the jobs is urgent (5%%), in every variant")
    p.add_argument("--only-varied", action="store_true", help="leave out the variant in which nothing is changed")
    p.add_argument("--replicas", type=int, default=1, metavar="N", help="simulations of each variant, with other seeds (1)")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="of all that is drawn (1)")
    p.add_argument("--rules", metavar="FILE", help="what happens to jobs and vnodes, as pbs_execsim --rules")
    p.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="simulations at once (cores)")
    p.add_argument("--directory", metavar="DIR", help="where the temporary directory is made")
    for name in ("json", "csv", "html"):
        p.add_argument(f"--{name}", metavar="FILE", help=f"write the results as {name.upper()}; - is standard output")
    p.add_argument("--from-json", metavar="FILE", help="simulate nothing: make table, CSV and HTML of an earlier --json")
    p.add_argument("--quiet", action="store_true", help="no table and no progress bar")
    p.add_argument("--version", "--VERSION", action="store_true", help="print the version")
    return p


# --- reading

def _kind(path):
    """The reader of a file, by its first line that says something."""
    for number, line in read_lines(path):
        if number > 1000:
            break
        if sacct.is_header(line):
            return sacct.read
        if line.lstrip().startswith(";") or len(line.split()) == swf.FIELDS and ";" not in line:
            return swf.read
        if re.match(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;", line):
            return accounting.read
        if line.strip():
            raise BadInput(f"{path}, line {number}: neither Standard Workload Format nor an accounting log of PBS nor "
                           "sacct --parsable2")
    raise BadInput(f"{path}: there is nothing in it")


def read_workload(paths):
    """The Workload of these files; several only of accounting logs, which are days."""
    kinds = {_kind(p) for p in paths}
    if kinds == {accounting.read}:
        return accounting.read(paths)
    if len(paths) > 1:
        raise BadInput("--workload: several files must all be accounting logs of PBS")
    return kinds.pop()(paths[0])


def _shifted(workload, seed):
    """A replica of a recorded workload: each user comes up to half an hour earlier or later."""
    rng = random.Random(f"replica.{seed}")
    shift = {u: rng.uniform(0, 2 * SHIFT_S) for u in sorted({j.user for j in workload.jobs})}
    return in_order([dataclasses.replace(j, submit_s=round(j.submit_s + shift[j.user])) for j in workload.jobs])


class Source:
    """Where the workloads of replicas come from; number 0 is what was given, others are drawn."""

    def __init__(self, options, base):
        self.options, self.base = options, base
        words = options.workload
        generated = [w for w in words if w.startswith(GENERATE)]
        if generated and len(words) > 1:
            raise BadInput(f"--workload: {generated[0]} is a whole workload; leave out the others, or it")
        self.settings = generate.parse(generated[0][len(GENERATE):]) if generated else None
        self.workload = None if self.settings else read_workload(words)
        self.notes = [] if self.settings else list(self.workload.notes)
        self.name = words[0] if len(words) == 1 else f"{words[0]} and {len(words) - 1} more"

    def replica(self, number):
        seed = self.options.seed + number
        if self.settings:
            workload = generate.generate(self.settings, seed, self.base.cpus())
        else:
            workload = dataclasses.replace(self.workload, jobs=_shifted(self.workload, seed) if number else self.workload.jobs)
        jobs, notes = feed.fitting(workload, self.base)
        if number == 0:
            self.notes += notes
        return Workload(jobs, workload.begin_s or BEGIN_S, [])


# --- simulating

@dataclasses.dataclass
class Task:
    """One simulation."""
    at: int                # of its variant
    number: int
    name: str
    site: object
    jobs: list
    begin_s: int
    text: str              # of the feed
    done: float = 0.0      # share, for the bar
    simulated_s: float = 0.0


def make_tasks(options, source, variants):
    """A Task for each variant and replica; notes of variants come with the first."""
    tasks, notes = [], [[] for _ in variants]
    for number in range(options.replicas):
        workload = source.replica(number)
        for at, v in enumerate(variants):
            site = source.base.copy()
            urgent = v.urgent if v.urgent is not None else options.urgent
            jobs = variant.make_urgent(workload.jobs, urgent, options.seed + number, site)
            feed.add_queues(dataclasses.replace(workload, jobs=jobs), site)
            for change in v.changes:
                change(site)
            text, said = feed.feed_text(dataclasses.replace(workload, jobs=jobs), site)
            if number == 0:
                notes[at] += said
            tasks.append(Task(at, number, f"v{at}r{number}", site, jobs, workload.begin_s, text))
    return tasks, notes


def simulate(task, keeper, exec_dir):
    """(figures, notes) of one simulation."""
    from .records import Trace
    c = Complex(keeper, exec_dir, task.name, task.site, task.begin_s)

    def progress(now_s, submitted, ended):
        task.simulated_s = now_s
        task.done = (submitted + ended) / (2 * len(task.jobs))
    try:
        c.start()
        complaints = c.complaints()
        outcome = c.run(task.text, progress)
    finally:
        c.stop()
    pictures = task.number == 0
    trace = Trace(task.begin_s, figures.gantt_vnodes(task.site) if pictures else ()).read(c.accounting())
    trace.read_estimates(c.sched_logs())
    c.remove()
    task.done, task.simulated_s, task.text = 1.0, outcome["end_s"], ""
    refused, notes = outcome["refused"], complaints
    if refused:
        line, why = min(refused.items())
        notes.append(f"{len(refused)} jobs are refused; job {task.jobs[line - 1].origin or line}: {why}")
    if outcome["stuck"]:
        never = sum(r.start_s is None for r in trace.by_line.values())
        notes.append(f"{never} jobs never start: nothing runs, and nothing has begun for eight days")
    return figures.of_simulation(trace, task.jobs, task.site, pictures=pictures), notes


class Bar:
    """The progress bar, on a terminal only."""

    def __init__(self, tasks, quiet):
        self.tasks, self.began = tasks, time.monotonic()
        self.shows = sys.stderr.isatty() and not quiet

    def speed(self):
        """Simulated hours a second, all simulations together."""
        return sum(t.simulated_s for t in self.tasks) / 3600 / max(time.monotonic() - self.began, 1e-3)

    def paint(self):
        if not self.shows:
            return
        share = sum(t.done for t in self.tasks) / len(self.tasks)
        full = int(share * BAR)
        sys.stderr.write(f"\r[{'#' * full}{'.' * (BAR - full)}] {share * 100:3.0f} %  {sum(t.done >= 1 for t in self.tasks)} of "
                         f"{len(self.tasks)} simulations, {self.speed():.1f} simulated hours a second ")
        sys.stderr.flush()

    def clear(self):
        if self.shows:
            sys.stderr.write("\r" + " " * (BAR + 75) + "\r")


def run_all(tasks, options, exec_dir):
    """Results in the order of tasks, and the speed."""
    bar = Bar(tasks, options.quiet)
    with Keeper(options.directory) as keeper:
        pool = concurrent.futures.ThreadPoolExecutor(max(1, options.processes))
        try:
            futures = [pool.submit(simulate, t, keeper, exec_dir) for t in tasks]
            left = set(futures)
            while left:
                done, left = concurrent.futures.wait(left, PAINT_S, concurrent.futures.FIRST_EXCEPTION)
                bar.paint()
                for f in done:
                    f.result()
            bar.clear()
            return [f.result() for f in futures], bar.speed()
        except BaseException:
            bar.clear()
            keeper.end()   # the daemons first: threads wait for them
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def make_study(options, source, variants, exec_dir):
    """All results, as they are written to --json."""
    tasks, notes = make_tasks(options, source, variants)
    results, speed = run_all(tasks, options, exec_dir)
    out = []
    for at, v in enumerate(variants):
        mine = [r for t, r in zip(tasks, results) if t.at == at]
        said = notes[at] + sorted({n for _, more in mine for n in more})
        first = next(t for t in tasks if t.at == at)
        out.append({"name": v.name, "notes": said, "vnodes": len(first.site.vnodes), "cpus": first.site.cpus(),
                    "simulations": [r for r, _ in mine]})
    jobs = tasks[0].jobs
    return {"format": "pbs_sim 1", "workload": source.name, "jobs": len(jobs), "seed": options.seed,
            "span_s": max(j.submit_s for j in jobs), "cluster": source.base.origin, "vnodes": len(source.base.vnodes),
            "cpus": source.base.cpus(), "replicas": options.replicas, "notes": source.notes, "variants": out,
            "simulated_hours_a_second": round(speed, 2)}


def make_variants(options):
    variants = [] if options.only_varied else [variant.Variant("as it is")]
    variants += [variant.parse_vary(text) for text in options.vary]
    if options.sched_config:
        variants.append(variant.Variant(f"sched_config {os.path.basename(options.sched_config)}",
                                        [variant.sched_config(options.sched_config)]))
    if options.add_nodes is not None:
        if not 1 <= options.add_nodes <= sites.VNODES_MAX:
            raise BadInput(f"--add-nodes {options.add_nodes}: 1 to {sites.VNODES_MAX}")
        variants.append(variant.Variant(f"{options.add_nodes} vnodes more", [lambda s: s.add_nodes(options.add_nodes)]))
    if not variants:
        raise BadInput("--only-varied: nothing is varied")
    return variants


# --- writing

def check_outputs(options):
    """Before anything is simulated: each file can be made, and only one is standard output."""
    paths = [p for p in (options.json, options.csv, options.html) if p]
    if paths.count("-") > 1:
        raise BadInput("--json, --csv, --html: only one of them can be standard output (-); name a file for the others")
    for path in paths:
        folder = os.path.dirname(path) or "."
        if path == "-" or os.path.exists(path) and not os.path.isfile(path):
            continue
        if not os.path.isdir(folder):
            raise BadInput(f"{path}: there is no directory {folder}")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise BadInput(f"{path}: files cannot be made in {folder}")


def _write(path, text):
    if path == "-":
        sys.stdout.write(text)
        return
    special = os.path.exists(path) and not os.path.isfile(path)
    part = path if special else f"{path}.part"
    try:
        try:
            with open(part, "w", encoding="utf-8") as f:
                f.write(text)
            if not special:
                os.replace(part, path)
        except BaseException:
            if not special and os.path.exists(part):
                os.unlink(part)
            raise
    except OSError as e:
        raise BadInput(f"{path}: {e.strerror}") from e


def write_all(options, study):
    if options.json:
        _write(options.json, json.dumps(study, separators=(",", ":"), sort_keys=True) + "\n")
    if options.csv:
        _write(options.csv, report.as_csv(study))
    if options.html:
        _write(options.html, page.of_study(study))
    if not options.quiet and "-" not in (options.json, options.csv, options.html):
        sys.stdout.write(report.table(study))
        sys.stdout.write(f"\n{study['simulated_hours_a_second']:.1f} simulated hours a second\n")


def _read_json(path):
    try:
        with open(path, encoding="utf-8") as f:
            study = json.load(f)
        report.table(study)
        return study
    except OSError as e:
        raise BadInput(f"{path}: {e.strerror}") from e
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as e:
        raise BadInput(f"{path}: pbs_sim has not written this ({type(e).__name__}: {e})") from e


class Interrupted(BaseException):
    """A signal that ends pbs_sim."""


def _interrupt(number, _frame):
    raise Interrupted(number)


def _check(options, p):
    if options.from_json:
        return
    if not options.workload or not options.cluster:
        p.error("--workload and --cluster are needed")
    if not 1 <= options.replicas <= 1000:
        p.error("--replicas is 1 to 1000")
    if options.processes < 1:
        p.error("--processes is 1 or more")
    if options.urgent is not None:
        options.urgent = variant.parse_share(options.urgent)


def main(exec_dir, words):
    """The exit status: 0; 1 the input or the simulation failed, with one line on standard error; 2 the command line."""
    p = parser()
    options = p.parse_args(words)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        if options.version:
            return subprocess.run([os.path.join(exec_dir, "bin", "qstat"), "--version"], check=False).returncode
        _check(options, p)
        check_outputs(options)
        if options.from_json:
            study = _read_json(options.from_json)
        else:
            base, notes = sites.read(options.cluster, exec_dir)
            if options.rules:
                base.rules = "\n".join(t for _, t in read_lines(options.rules)) + "\n"
                base.named["rules"] = options.rules
            source = Source(options, base)
            source.notes += notes
            study = make_study(options, source, make_variants(options), exec_dir)
        write_all(options, study)
        sys.stdout.flush()
        return 0
    except (BadInput, Failed) as e:
        print(f"pbs_sim: {e}", file=sys.stderr)
        return EXIT_BAD
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BAD
    except OSError as e:
        print(f"pbs_sim: {e.filename or 'the temporary directory'}: {e.strerror}", file=sys.stderr)
        return EXIT_BAD
    except Interrupted as e:
        return 128 + e.args[0]
