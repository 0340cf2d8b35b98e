"""pbs_sim: what would have happened, said by the real server and scheduler, in stepped time."""
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys

import pytest

from harness.wait import until

BUILD = os.environ["CEDE_BUILD"]
PBS_SIM = os.path.join(BUILD, "sbin", "pbs_sim")
SMALL = "2*ncpus=4,mem=8gb"
LIMIT_S = 120

SWF = """; Version: 2.2
; UnixStartTime: 1767600000
; MaxNodes: 2
1   0 -1 100 8 -1 -1 8 100 -1 1 1 1 -1 -1 -1 -1 -1
2  10 -1 100 4 -1 -1 4 200 -1 1 2 1 -1 -1 -1 -1 -1
3  20 -1  50 8 -1 -1 8 100 -1 1 1 1 -1 -1 -1 -1 -1
4  30 -1  50 4 -1 -1 4  90 -1 1 3 1 -1 -1 -1 -1 -1
5  40 -1  10 1 -1 -1 1  20 -1 1 3 1 -1 -1 -1  1 60
6  50 -1  -1 1 -1 -1 1  20 -1 0 3 1 -1 -1 -1 -1 -1
"""


def sim(*words, check=True, env=None, cwd=None):
    done = subprocess.run([PBS_SIM, *map(str, words)], capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, **(env or {})}, cwd=cwd)
    if check and done.returncode:
        raise AssertionError(f"pbs_sim {words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def study(tmp_path, *words):
    """What --json has."""
    path = tmp_path / "study.json"
    sim(*words, "--json", path, "--quiet")
    return json.loads(path.read_text(encoding="utf-8"))


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def bars(of_study, variant=0):
    """Begin and end of the runs of each job, by line, of the first simulation."""
    out = {}
    for _, begin, end, kind, line in of_study["variants"][variant]["simulations"][0]["gantt"]["bars"]:
        out.setdefault(line, set()).add((begin, end, kind))
    return {line: sorted(found) for line, found in out.items()}


# --- what a workload says


def test_jobs_of_a_swf_log_start_when_policy_says_and_a_follower_after_its_think_time(tmp_path):
    found = study(tmp_path, "--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL)
    runs = {line: (b[0][0], b[0][1]) for line, b in bars(found).items()}
    assert runs[1] == (0, 100)                  # the whole cluster
    assert runs[2] == (100, 200)                # half of it
    assert runs[4] == (100, 150)                # beside it, before job 3: it ends in time (backfill)
    assert runs[3] == (200, 250)
    assert runs[5] == (160, 170)                # submitted 60 s after the end of job 1, not at 40
    assert found["jobs"] == 5 and "1 jobs that never ran" in found["notes"][0]


def test_first_come_first_served_is_one_line_and_is_what_the_numbers_show(tmp_path):
    found = study(tmp_path, "--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL,
                  "--vary", "strict_ordering: True; server backfill_depth = 0")
    runs = {line: b[0][0] for line, b in bars(found, 1).items()}
    assert runs[2] == 100 and runs[3] == 200 and runs[4] == 250


def test_estimates_are_scored_against_the_starts(tmp_path):
    """In strict order job 2 waits for job 1, which uses its walltime: it starts at 100 as said. Job 3 is said to wait for the
    walltime of job 2, until 300, and job 4 is backfilled, so that it is not; job 2 ends at 200."""
    path = tmp_path / "study.csv"
    page = tmp_path / "study.html"
    words = ("--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL, "--only-varied", "--vary",
             "[strict] strict_ordering: True; server backfill_depth = 1; sched default log_events = 1")
    found = study(tmp_path, *words, "--csv", path, "--html", page)
    assert {line: b[0][0] for line, b in bars(found).items()} == {1: 0, 2: 100, 3: 200, 4: 100, 5: 160}
    figures = found["variants"][0]["simulations"][0]
    keys = ("estimated", "estimate_error_median_s", "estimate_earlier", "estimate_later")
    assert [figures["all"][k] for k in keys] == [2, 50, 0.5, 0]
    assert [figures["by_user"]["user2"][k] for k in keys] == [1, 0, 0, 0]
    assert [figures["by_user"]["user3"][k] for k in keys] == [0, None, None, None]
    assert "strict,1,all,,estimate_error_median_s,50" in path.read_text(encoding="utf-8")
    table = sim(*words).stdout
    assert re.search(r"^estimated starts +2$", table, re.M) and re.search(r"^estimate: error, median +50\.0 s$", table, re.M)
    assert re.search(r"^estimate: began earlier +50\.0 %$", table, re.M)
    assert "<td>estimate: began earlier</td><td>50.0 %</td>" in page.read_text(encoding="utf-8")


def test_the_first_estimate_counts_and_none_of_a_job_that_has_run(tmp_path):
    sys.path.insert(0, os.path.join(BUILD, "lib", "python"))
    from study.records import Trace
    log = write(tmp_path, "20260105", "".join(f"01/05/2026 08:00:00;Q;{n}.x;user=u queue=workq jobname=w{n} Resource_List.ncpus=4\n"
                                              for n in (1, 2)))
    head, says = "01/05/2026 08:00:00;0080;pbs_sched;Job;", "Job is a top job and will run at Mon Jan  5 08:0"
    sched = write(tmp_path, "sched", f"{head}1.x;{says}5:00 2026\n{head}1.x;{says}7:00 2026\n{head}2.x;Job run\n"
                                     f"{head}2.x;{says}9:00 2026\n{head}3.x;{says}9:00 2026\nno line of a log\n")
    trace = Trace(0).read([log]).read_estimates([sched])
    assert trace.by_line[1].estimate_s - trace.by_line[1].submit_s == 300 and trace.by_line[2].estimate_s is None


def test_the_same_input_gives_the_same_output_twice(tmp_path):
    words = ("--workload", "generate:jobs=120,load=0.9,users=5", "--cluster", "4*ncpus=8,mem=32gb", "--urgent", "10%", "--vary",
             "sched default preempt_order = R")
    first, second = study(tmp_path, *words), study(tmp_path, *words)
    del first["simulated_hours_a_second"], second["simulated_hours_a_second"]
    assert first == second
    one, two = (v["simulations"][0] for v in first["variants"])
    assert one["all"]["by_method"].get("suspended") and not one["all"]["by_method"].get("requeued")
    assert two["all"]["by_method"].get("requeued") and two["all"]["lost_core_hours"] > one["all"]["lost_core_hours"] == 0
    assert one["all"]["ended"] == two["all"]["ended"] == 120


def test_a_generated_workload_has_the_shares_of_the_model():
    sys.path.insert(0, os.path.join(BUILD, "lib", "python"))
    from study import generate
    jobs = generate.generate(generate.parse("jobs=20000"), 1, 128).jobs
    serial = [math.log(j.run_s) for j in jobs if j.cpus == 1]
    wide = [j for j in jobs if j.cpus > 1]
    assert abs(len(serial) / len(jobs) - 0.244) < 0.01
    assert abs(sum(j.cpus & (j.cpus - 1) == 0 for j in wide) / len(wide) - 0.72) < 0.06   # 0.576, and what is one by chance
    assert sum(j.cpus <= 2 ** 4.5 for j in wide) / len(wide) == pytest.approx(0.86, abs=0.03)
    short = generate.PA + generate.PB
    assert statistics.fmean(serial) == pytest.approx(short * 4.2 * 0.94 + (1 - short) * 312 * 0.03, abs=0.15)
    hour = [0] * 24
    for job in generate.generate(generate.parse("jobs=20000,scale=1"), 1, 128).jobs:
        hour[int(job.submit_s / 3600 + 8) % 24] += 1
    assert max(hour) == max(hour[9:18]) and min(hour) == min(hour[2:7])


def test_a_generated_workload_has_the_length_and_the_load_that_are_asked_for():
    sys.path.insert(0, os.path.join(BUILD, "lib", "python"))
    from study import generate
    plain, dense = (generate.generate(generate.parse(f"jobs=5000,days=10{more}"), 1, 100).jobs for more in ("", ",load=0.5"))
    for jobs in (plain, dense):
        assert jobs[0].submit_s == 0 and jobs[-1].submit_s == 10 * 86400
    assert sum(j.cpus * j.run_s for j in dense) / (100 * 10 * 86400) == pytest.approx(0.5, rel=0.01)
    assert [(j.cpus, j.user, j.submit_s) for j in dense] == [(j.cpus, j.user, j.submit_s) for j in plain]
    assert all(j.walltime_s >= j.run_s for j in dense)


def test_the_trace_of_a_simulation_keeps_the_vnodes_that_a_picture_shows(tmp_path):
    """Each job of a year on a thousand vnodes may have hundreds, of which a Gantt shows the first ones."""
    sys.path.insert(0, os.path.join(BUILD, "lib", "python"))
    from study.records import Trace
    log = write(tmp_path, "20260105", "01/05/2026 08:00:00;Q;1.x;user=u queue=workq jobname=w1 Resource_List.ncpus=4\n"
                "01/05/2026 08:00:01;S;1.x;exec_vnode=(n1:ncpus=1+n2:ncpus=1)+(n3:mem=1gb)+(n1:ncpus=2)\n")
    assert Trace(0, ["n3", "n1"]).read([log]).by_line[1].runs[0][3] == ("n1",)
    assert Trace(0).read([log]).by_line[1].runs[0][3] == ()


# --- input that cannot be used


BAD = (
    ("cut", "1 0 -1 100 8 -1 -1 8 100 -1 1 1 1 -1 -1 -1 -1 -1\n2 10 -1 100 4", "line 2: 5 fields"),
    ("negative", "1 0 -1 -500 8 -1 -1 8 100 -1 1 1 1 -1 -1 -1 -1 -1\n", "line 1: -500 is neither"),
    ("words", "1 0 -1 x 8 -1 -1 8 100 -1 1 1 1 -1 -1 -1 -1 -1\n", "line 1: a field is not a number"),
    ("long", "1 0 -1 9e14 8 -1 -1 8 100 -1 1 1 1 -1 -1 -1 -1 -1\n", "longer than a hundred years"),
    ("large", "7 0 -1 100 800 -1 -1 800 100 -1 1 1 1 -1 -1 -1 -1 -1\n", "no job of the workload fits this cluster of 8 cpus"),
    ("empty", "; MaxJobs: 1000000000\n", "there is no"),
    ("binary", "; x\n\0\1\2", "line 2: this is a binary file"),
    ("prose", "What is this?\n", "line 1: neither Standard Workload Format nor"),
    ("acct", "01/05/2026 08:00:00;E;1.x;start=no end=5\n", "line 1: start=no"),
    ("acct2", "01/05/2026 08:00:00;E;1.x;start=5 end=9 etime=1\n01/05/2026 08:0", "line 2: this is no accounting record"),
    ("sacct", "JobID|Submit|Start|End\n1|2026-01-05T08:00:00|2026-01-05T07:00:00|2026-01-05T09:00:00\n", "line 2: Submit, Start and End"),
)


@pytest.mark.parametrize("name,text,said", BAD, ids=[b[0] for b in BAD])
def test_input_that_is_broken_is_named_with_file_and_line(tmp_path, name, text, said):
    path = write(tmp_path, name, text)
    done = sim("--workload", path, "--cluster", SMALL, check=False)
    assert done.returncode == 1 and done.stderr.startswith("pbs_sim: ") and done.stderr.count("\n") == 1
    assert said in done.stderr and (path in done.stderr or name == "large")


def test_an_archive_that_is_no_snapshot_or_is_cut_is_refused(tmp_path):
    good = write(tmp_path, "a", "1\n" * 5000)
    subprocess.run(["tar", "-czf", "other.tgz", "a"], cwd=tmp_path, check=True)
    (tmp_path / "cut.tgz").write_bytes((tmp_path / "other.tgz").read_bytes()[:-20])
    for name, says in (("other.tgz", "no archive of pbs_snapshot"), ("cut.tgz", "cannot be read")):
        done = sim("--workload", good, "--cluster", f"@{tmp_path / name}", check=False)
        assert done.returncode == 1 and name in done.stderr and says in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words,said", [
    (("--cluster", "16 nodes"), "does not describe vnodes"),
    (("--cluster", "99999*ncpus=1"), "more than 16384 vnodes"),
    (("--cluster", "@/nonexistent"), "/nonexistent: No such file"),
    (("--cluster", SMALL, "--vary", "preempt by requeue"), "write a line of qmgr"),
    (("--cluster", SMALL, "--vary", "sched default preempt_order = X"), "refuses a setting"),
    (("--cluster", SMALL, "--urgent", "700%"), "a share is 0% to 100%"),
    (("--cluster", SMALL, "--directory", "/nonexistent"), "/nonexistent"),
    (("--cluster", SMALL, "--json", "/dev/full/x"), "/dev/full/x"),
    (("--cluster", SMALL, "--html", "/nonexistent/x"), "/nonexistent/x: there is no directory /nonexistent"),
    (("--cluster", SMALL, "--json", "-", "--csv", "-"), "only one of them can be standard output"),
    (("--cluster", SMALL, "--sched-config", "/nonexistent"), "/nonexistent: No such file"),
    (("--cluster", SMALL, "--rules", "/nonexistent"), "/nonexistent: No such file"),
    (("--cluster", SMALL, "--add-nodes", "0"), "--add-nodes 0: 1 to 16384"),
    (("--cluster", SMALL, "--only-varied"), "nothing is varied"),
    (("--cluster", SMALL, "--workload", "generate:jobs=3"), "generate:jobs=3 is a whole workload"),
    (("--from-json", "/dev/null"), "pbs_sim has not written this"),
])
def test_a_command_line_that_is_wrong_is_answered_by_one_sentence(tmp_path, words, said):
    done = sim("--workload", write(tmp_path, "small.swf", SWF), *words, check=False)
    assert done.returncode == 1 and said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("option,text,said", [
    ("--rules", "lose n1 5 2\nloose n1 50\n", "mine, line 2: \"loose\" is not a rule"),
    ("--sched-config", "strict_ordering: perhaps\n", "mine: Error reading line 1: Config line invalid: "
     "strict_ordering: \"perhaps\" is neither True nor False"),
])
def test_a_file_that_a_daemon_refuses_is_called_by_its_own_name(tmp_path, option, text, said):
    path = write(tmp_path, "mine", text)
    done = sim("--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL, option, path, check=False)
    assert done.returncode == 1 and f"{tmp_path}/{said}" in done.stderr and done.stderr.count("\n") == 1


def test_lines_of_sched_config_that_do_nothing_are_noted(tmp_path):
    path = write(tmp_path, "mine", "strict_odering: True\n")
    found = study(tmp_path, "--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL, "--sched-config", path)
    now, mine = found["variants"]
    assert not now["notes"] and any("Unknown config parameter strict_odering" in n for n in mine["notes"])


def test_a_sched_config_is_one_more_variant(tmp_path):
    with open(os.path.join(BUILD, "etc", "pbs_sched_config"), encoding="utf-8") as f:
        strict = re.sub(r"^strict_ordering:.*", "strict_ordering: True ALL", f.read(), flags=re.M)
    assert "strict_ordering: True ALL" in strict
    path = write(tmp_path, "strict", strict)
    found = study(tmp_path, "--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL, "--sched-config", path, "--vary",
                  f"[first come] sched-config {path}; server backfill_depth = 0")
    assert [v["name"] for v in found["variants"]] == ["as it is", "first come", "sched_config strict"]
    runs = {line: b[0][0] for line, b in bars(found, 1).items()}
    assert runs[2] == 100 and runs[3] == 200 and runs[4] == 250


def test_rules_take_a_vnode_away(tmp_path):
    found = study(tmp_path, "--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL, "--rules",
                  write(tmp_path, "rules", "lose n1 50 1000\n"))
    runs = bars(found)
    assert runs[1][0][:2] == (0, 50)                # time begins with the workload, also for rules
    assert min(b for b, _, _ in runs[3]) >= 1000    # it wants both vnodes
    assert min(b for b, _, _ in runs[4]) < 1000
    assert found["variants"][0]["simulations"][0]["all"]["ended"] == 5


def read_all(fd):
    """What is written to a terminal until its last writer has gone."""
    out = b""
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:   # as Linux tells the end of a terminal
            return out.decode()
        if not piece:
            return out.decode()
        out += piece


def test_a_terminal_sees_how_far_it_is_and_a_file_does_not(tmp_path):
    master, slave = os.openpty()
    words = [PBS_SIM, "--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=slave, text=True) as p:
        os.close(slave)
        seen = read_all(master)
        table = p.stdout.read()
    os.close(master)
    assert p.returncode == 0 and "simulated hours a second" in table
    assert re.search(r"\r\[[#.]{30}\] +\d+ %  \d of 1 simulations, [\d.]+ simulated hours a second", seen)
    assert sim(*words[1:]).stderr == ""


def test_jobs_too_large_for_the_cluster_are_left_out_and_named(tmp_path):
    text = SWF + "77 60 -1 10 800 -1 -1 800 20 -1 1 3 1 -1 -1 -1 -1 -1\n"
    found = study(tmp_path, "--workload", write(tmp_path, "small.swf", text), "--cluster", SMALL)
    assert found["jobs"] == 5 and any("larger than the cluster and left out: 77" in n for n in found["notes"])


# --- no traces


def begun(tmp_path, *words):
    """A long study that runs, below tmp_path."""
    p = subprocess.Popen([PBS_SIM, "--workload", "generate:jobs=20000,load=0.9", "--cluster", "16*ncpus=8,mem=32gb",
                          "--directory", str(tmp_path), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until(lambda: any((d / "v0r0" / "workload").exists() for d in tmp_path.glob("pbs_sim.*")), "the simulation")
    return p


def below(path):
    """Processes whose environment or command names this directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if str(path).encode() + b"/pbs_sim." in f.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_a_signal_ends_it(tmp_path, number):
    p = begun(tmp_path)
    assert below(tmp_path)
    p.send_signal(number)
    p.wait(120)
    assert p.returncode in (128 + number, -number)
    until(lambda: not list(tmp_path.iterdir()) and not below(tmp_path), "the end of all that it started")
    p.stderr.close()


def test_the_live_complex_sees_nothing_of_it(cx, tmp_path):
    def seen():
        return cx.qmgr("print server", "print node @default"), cx.api.select()
    before = seen()
    sim("--workload", write(tmp_path, "small.swf", SWF), "--cluster", SMALL, "--directory", tmp_path, env=cx.env)
    assert seen() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.swf"]
