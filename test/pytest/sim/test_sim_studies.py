"""What an administrator does with pbs_sim: a log, a question, a page; and what doc/simulation.md shows."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import pytest

from harness import users
from harness.wait import until

PBS_SIM = os.path.join(os.environ["CEDE_BUILD"], "sbin", "pbs_sim")
DOC = pathlib.Path(__file__).resolve().parents[3] / "doc" / "simulation.md"
LIMIT_S = 170
BEGIN_S = 1767600000


def sim(*words, env=None, user=None):
    done = subprocess.run([PBS_SIM, *map(str, words)], capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, **(env or {})}, cwd="/", **({"user": user, "group": user, "extra_groups": []} if user else {}))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def loaded(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def accounting_record(number, submit, start, end, ncpus, queue, user):
    """As OpenPBS writes it."""
    return (f"01/05/2026 10:00:00;E;{number}.pbs;user={user} group=staff project=_pbs_project_default jobname=run queue={queue} "
            f"ctime={submit} qtime={submit} etime={submit} start={start} exec_host=n1/0*{ncpus} exec_vnode=(n1:ncpus={ncpus}) "
            f"Resource_List.mem=1gb Resource_List.ncpus={ncpus} Resource_List.nodect=1 Resource_List.place=free "
            f"Resource_List.select=1:ncpus={ncpus}:mem=1gb Resource_List.walltime=01:00:00 session=7 end={end} Exit_status=0 "
            f"resources_used.cpupercent=99 resources_used.cput=00:10:00 resources_used.mem=900kb resources_used.ncpus={ncpus} "
            "resources_used.vmem=1kb resources_used.walltime=00:20:00 run_count=1\n")


@pytest.fixture
def june(tmp_path):
    """A month's log in two files: long jobs that fill two vnodes, and urgent ones that come between."""
    for day in (1, 2):
        lines = []
        for i in range(24):
            at = BEGIN_S + day * 7200 + i * 300
            urgent = i % 6 == 5
            lines.append(accounting_record(day * 100 + i, at, at + 10, at + 1210, 4 if urgent else 2,
                                           "express" if urgent else "workq", f"u{i % 3}"))
        (tmp_path / f"2026060{day}").write_text("".join(lines), encoding="ascii")
    return tmp_path


@pytest.mark.complex(nodes=2, ncpus=4, sched=True)
def test_an_administrator_has_a_page_that_says_what_requeue_instead_of_suspension_would_have_done(cx, june):
    cx.make_queue("express", Priority="200")
    cx.set_server("max_run", "[u:PBS_GENERIC=50]")
    said = cx.command("pbs_snapshot", "-o", june, "--daemon-logs=0", limit_s=170).stdout
    archive = said.split(": ", 1)[1].strip()
    subprocess.run(["tar", "-xzf", archive, "-C", june], check=True)
    folder = next(p for p in june.iterdir() if p.is_dir() and p.name.startswith("snapshot"))
    words = ["--workload", june / "20260601", june / "20260602", "--vary", "sched default preempt_order = R"]
    out = sim(*words, "--cluster", f"@{folder}", "--html", june / "june.html", "--json", june / "june.json", "--csv", june / "june.csv")
    assert "2 vnodes, 8 cpus" in out and "48 jobs" in out
    suspends, requeues = (v["simulations"][0] for v in loaded(june / "june.json")["variants"])
    assert suspends["all"]["by_method"].get("suspended") and suspends["all"]["lost_core_hours"] == 0
    assert requeues["all"]["by_method"].get("requeued") and requeues["all"]["lost_core_hours"] > 0
    assert suspends["all"]["ended"] == requeues["all"]["ended"] == 48
    page = (june / "june.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 6 and "sched default preempt_order = R" in page and "lost core-hours" in page
    assert not re.search(r"(src|href)=", page)   # it needs no other file
    sim("--from-json", june / "june.json", "--html", june / "again.html", "--quiet")
    assert (june / "again.html").read_text(encoding="utf-8") == page
    assert ",queue,express,preempted," in (june / "june.csv").read_text(encoding="utf-8")
    sim(*words, "--cluster", "live", "--json", june / "live.json", "--quiet", env=cx.env)
    live, snapshot = (loaded(june / f"{n}.json")["variants"][0] for n in ("live", "june"))
    assert live["cpus"] == snapshot["cpus"] == 8
    assert live["simulations"][0]["all"] == snapshot["simulations"][0]["all"]
    sim(*words, "--cluster", f"@{archive}", "--json", june / "archive.json", "--quiet")
    assert [v["simulations"] for v in loaded(june / "archive.json")["variants"]] == [v["simulations"] for v in loaded(june / "june.json")["variants"]]


SACCT = """JobID|User|Group|Account|Partition|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|ReqMem|ExitCode|State
11|ann|staff|acc|batch|2026-01-05T08:00:00|2026-01-05T08:00:05|2026-01-05T08:10:05|00:10:00|01:00:00|8|4G|0:0|COMPLETED
11.batch||||||2026-01-05T08:00:05|2026-01-05T08:10:05|00:10:00||8||0:0|COMPLETED
12|bob|staff|acc|express|2026-01-05T08:01:00|2026-01-05T08:10:05|2026-01-05T08:11:05|00:01:00|1-00:00:00|4|1Gc|1:0|FAILED
13|bob|staff|acc|batch|2026-01-05T08:01:00|Unknown|Unknown|00:00:00|UNLIMITED|4|1Gc|0:0|PENDING
"""


def test_a_log_of_slurm_is_read_and_a_partition_that_is_missing_becomes_a_queue(tmp_path):
    (tmp_path / "jobs").write_text(SACCT.replace("11.batch||||||", "11.batch|||||2026-01-05T08:00:00|"), encoding="ascii")
    sim("--workload", tmp_path / "jobs", "--cluster", "2*ncpus=4,mem=8gb", "--json", tmp_path / "json", "--quiet")
    found = loaded(tmp_path / "json")
    assert found["jobs"] == 2 and "1 jobs that never ran" in found["notes"][0]
    first = found["variants"][0]["simulations"][0]
    assert first["by_queue"]["express"]["wait_mean_s"] == 0       # it preempts
    assert first["all"]["by_method"] == {"suspended": 1} and first["by_queue"]["batch"]["response_mean_s"] == 660


@pytest.fixture
def open_path():
    """A directory that every user may enter and write to."""
    with tempfile.TemporaryDirectory(prefix="cede-") as path:
        os.chmod(path, 0o777)
        yield pathlib.Path(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as this user already")
def test_an_ordinary_user_simulates_more_vnodes_urgent_jobs_and_replicas(open_path):
    tmp_path = open_path
    sim("--workload", "generate:jobs=60,load=1.2,users=4", "--cluster", "2*ncpus=4,mem=8gb", "--urgent", "20%", "--add-nodes", "4",
        "--replicas", "3", "--json", tmp_path / "json", "--directory", tmp_path, user=users.available()[0])
    found = loaded(tmp_path / "json")
    now, more = found["variants"]
    assert (now["cpus"], more["cpus"]) == (8, 24) and len(now["simulations"]) == len(more["simulations"]) == 3
    assert now["simulations"][0] != now["simulations"][1]
    assert all(s["by_urgency"]["urgent"]["jobs"] > 0 for s in now["simulations"])
    assert sum(s["all"]["wait_mean_s"] for s in more["simulations"]) < sum(s["all"]["wait_mean_s"] for s in now["simulations"])


def pairs_in_order(real, simulated, apart_s):
    """(pairs of jobs whose real starts are so far apart, how many of them start in the same order in the simulation)."""
    far, same = 0, 0
    for a, (x, u) in enumerate(zip(real, simulated)):
        for y, v in zip(real[a + 1:], simulated[a + 1:]):
            if abs(x - y) >= apart_s:
                far += 1
                same += (x < y) == (u < v)
    return far, same


@pytest.mark.complex(nodes=2, ncpus=16)
def test_a_day_on_real_hosts_and_its_simulation_agree(cx, tmp_path):
    """Bounds are those of doc/simulation.md; what a loaded machine adds between jobs is in neither log nor simulation."""
    lengths = [(1, 1, 2)[i * 7 % 3] for i in range(300)]
    jobs = [cx.submit(f"sleep {s}", select=f"1:ncpus={1 + i * 5 % 3}", l_walltime=str(60 + i)) for i, s in enumerate(lengths)]
    until(lambda: not cx.api.select(), "the end of the day", 120)
    folder = os.path.join(cx.home, "server_priv", "accounting")

    def logged():
        text = "".join(pathlib.Path(folder, n).read_text(encoding="utf-8") for n in sorted(os.listdir(folder)))
        return {job: (int(start), int(end)) for job, start, end in re.findall(r";E;(\S+?);.* start=(\d+) .*? end=(\d+) ", text)}
    until(lambda: len(logged()) == len(jobs), "the log")
    sim("--workload", *(os.path.join(folder, n) for n in sorted(os.listdir(folder))), "--cluster", "2*ncpus=16,mem=8gb", "--json",
        tmp_path / "json", "--quiet")
    bars = loaded(tmp_path / "json")["variants"][0]["simulations"][0]["gantt"]["bars"]
    begun = {}
    for _, begin, _, _, line in bars:
        begun[line] = min(begin, begun.get(line, begin))
    times = logged()
    # Where a loaded machine tells a start late, a job has run no whole second by the log; it has no bar then.
    lines = {line: times[j][0] for line, j in enumerate(jobs, 1) if times[j][1] > times[j][0]}   # in the order of submission
    assert sorted(begun) == sorted(lines)
    real = [start - min(lines.values()) for start in lines.values()]
    simulated = [begun[line] - min(begun.values()) for line in lines]
    length = max(real) or 1
    far, same = pairs_in_order(real, simulated, 3)
    assert same >= 0.8 * far, (real, simulated)
    assert sum(abs(a - b) for a, b in zip(real, simulated)) / len(real) <= 2 + 0.25 * length, (real, simulated)


def commands_of_doc():
    """The commands of the two studies."""
    text = DOC.read_text(encoding="utf-8")
    return [" ".join(found.replace("\\\n", " ").split()) for found in re.findall(r"^    (pbs_sim --workload generate(?:.*\\\n)*.*)$", text, re.M)]


def short(command, tmp_path):
    """The study with 60 jobs that come in half the time, more of them urgent, once for each variant: its variants by name."""
    command = re.sub(r"load=[\d.]+", "load=2", command).replace("--urgent 5%", "--urgent 20%")
    words = shlex.split(re.sub(r"jobs=\d+", "jobs=60", re.sub(r"--replicas \d+", "--replicas 1", command)))[1:]
    words = [w for w in words if not w.endswith(".html")]
    words.remove("--html")
    sim(*words, "--json", tmp_path / "json", "--quiet")
    return {v["name"]: v["simulations"][0] for v in loaded(tmp_path / "json")["variants"]}


def test_the_study_of_backfill_runs_in_a_short_form(tmp_path):
    found = short(commands_of_doc()[0], tmp_path)
    assert found["EASY"]["utilisation"] >= found["FCFS"]["utilisation"]
    assert found["EASY"]["all"]["wait_mean_s"] <= found["FCFS"]["all"]["wait_mean_s"]


def test_the_study_of_methods_runs_in_a_short_form(tmp_path):
    found = short(commands_of_doc()[1], tmp_path)
    assert {n.split(",")[0] for n in found} == {"none", "S", "C", "R", "D"}
    assert found["none"]["all"]["preempted"] == 0
    for letter, word in (("S", "suspended"), ("C", "checkpointed"), ("R", "requeued"), ("D", "deleted")):
        assert set(found[letter]["all"]["by_method"]) == {word}
    assert all(f"{m}, 60 s notice" in found for m in "CRD")
    assert found["S"]["all"]["lost_core_hours"] == 0 < found["R"]["all"]["lost_core_hours"]
