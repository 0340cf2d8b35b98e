"""Lines of sched_config as administrators and their scripts write them, good and bad: what is said of each, and what holds then."""
import os

import pytest

from harness import faults
from harness.ask import comment
from harness.sim import Simulator
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)

INVALID = "Config line invalid: "
NOT_BOOL = "is neither True nor False"
NOT_DURATION = "is not a duration: seconds, or [[hours:]minutes:]seconds[.fraction]"

# The value is not of the option's type: nothing of the file is taken.
REFUSED = {
    "by_queue: perhaps": f'by_queue: "perhaps" {NOT_BOOL}',
    "round_robin: 2": f'round_robin: "2" {NOT_BOOL}',
    "strict_ordering: true sometimes": f'strict_ordering: "true sometimes" {NOT_BOOL}',
    "fair_share": f'fair_share: "" {NOT_BOOL}',
    "fair_share: all": f'fair_share: "all" {NOT_BOOL}',
    "update_comments: maybe": f'update_comments: "maybe" {NOT_BOOL}',
    "preempt_attempts: many": 'preempt_attempts: "many" is not a whole number',
    "preempt_attempts: -4": "preempt_attempts: preempt_attempts must be between 0 and 2147483647",
    "unknown_shares: -3": "unknown_shares: unknown_shares must be between 0 and 2147483647",
    "unknown_shares: 1.5": 'unknown_shares: "1.5" is not a whole number',
    "fairshare_decay_time: -5": f'fairshare_decay_time: "-5" {NOT_DURATION}',
    "fairshare_decay_time: daily": f'fairshare_decay_time: "daily" {NOT_DURATION}',
    "fairshare_decay_factor: half": 'fairshare_decay_factor: "half" is not a number',
    "prime_spill: -1": f'prime_spill: "-1" {NOT_DURATION}',
    ": true": "there is no name, or one that is too long",
}

JOB_KEY, NODE_KEY = 'it is "NAME HIGH" or "NAME LOW"', 'it is "NAME HIGH" or "NAME LOW", for an amount with total, assigned or unused'
SCRIPT = 'it is "RESOURCE !/SCRIPT ARGUMENTS", 200 at most'

# This line alone is passed over.
PASSED_OVER = {
    "nosuch: 1": "Error reading line 2: Unknown config parameter nosuch",
    "help_starving_jobs: true ALL": "Error reading line 2: Unknown config parameter help_starving_jobs",
    "max_starve: 24:00:00": "Error reading line 2: Unknown config parameter max_starve",
    "sort_queues: true ALL": "Error reading line 2: Unknown config parameter sort_queues",
    "sort_by: shortest_job_first ALL": "Error reading line 2: Unknown config parameter sort_by",
    "preempt_prio: \"express_queue\"": "Obsolete config name preempt_prio, instead use nothing - set via qmgr",
    "preempt_order: \"SCR\"": "Obsolete config name preempt_order, instead use nothing - set via qmgr",
    "preempt_sort: min_time_since_start": "Obsolete config name preempt_sort, instead use nothing - set via qmgr",
    "preempt_queue_prio: 150": "Obsolete config name preempt_queue_prio, instead use nothing - set via qmgr",
    "node_group_key: rack": "Obsolete config name node_group_key, instead use nothing - set via qmgr",
    "log_filter: 3328": "Obsolete config name log_filter, instead use nothing - set log_events via qmgr",
    "half_life: 24:00:00": "Obsolete config name half_life, instead use fairshare_decay_time",
    'job_sort_key: "ncpus UP"': f"Error reading line 2: Invalid job_sort_key: ncpus UP: {JOB_KEY}",
    'job_sort_key: "ncpus"': f"Error reading line 2: Invalid job_sort_key: ncpus: {JOB_KEY}",
    'node_sort_key: "ncpus HIGH some"': f"Error reading line 2: Invalid node_sort_key: ncpus HIGH some: {NODE_KEY}",
    'node_sort_key: "ncpus UP" non_prime': f"Error reading line 2: Invalid node_sort_key: ncpus UP: {NODE_KEY}",
    'server_dyn_res: "lic"': f"Error reading line 2: Invalid server_dyn_res: lic: {SCRIPT}",
    'server_dyn_res: "lic !count"': f"Error reading line 2: Invalid server_dyn_res: lic !count: {SCRIPT}",
    'server_dyn_res: "lic !/no/such a"': "Error reading line 2: server_dyn_res script /no/such does not exist",
    "fairshare_entity: uid": "Error reading line 2: fairshare_entity uid is erroneous (or deprecated).",
    "fairshare_decay_factor: 2": "Error reading line 2: fairshare_decay_factor 2 is not between 0 and 1: 0.5 is used",
    "fairshare_decay_factor: -1": "Error reading line 2: fairshare_decay_factor -1 is not between 0 and 1: 0.5 is used",
    "smp_cluster_dist: lowest_load": "Error reading line 2: smp_cluster_dist lowest_load is neither pack nor round_robin: pack is used",
    "max_job_check: some": "Error reading line 2: max_job_check some is neither ALL_JOBS nor a number of jobs: all are looked at",
    "max_job_check: -2": "Error reading line 2: max_job_check -2 is neither ALL_JOBS nor a number of jobs: all are looked at",
    "resv_confirm_ignore: all": "Error reading line 2: resv_confirm_ignore valid values: dedicated_time or none",
}

# What scripts write, with PBS's separators and prime words.
GOOD = ["strict_ordering true ALL", "strict_ordering:true\tALL", "strict_ordering\tTRUE prime", "strict_ordering : yes", "by_queue: False none",
        'job_sort_key: "job_priority HIGH" all', "job_sort_key: job_priority HIGH", 'node_sort_key: "mem LOW unused" prime', "max_job_check: all_jobs",
        "max_job_check: 100", "smp_cluster_dist: Round_Robin ALL", "resv_confirm_ignore: dedicated_time", "fairshare_entity: egroup:euser",
        "primetime_prefix: day_", "dedicated_prefix: ded", "prime_spill: 1:00:00 non_prime", "unknown_shares: 0", "# nosuch: 1", "   ",
        'resources: "ncpus, mem, arch, host, vnode, aoe, eoe, lic"', 'resource_unset_infinite: "scratch"', "fairshare_usage_res: ncpus*walltime"]


def said(log):
    return [line.split(";", 5)[5] for line in log.splitlines() if ";Fil;sched_config;" in line]


def after(cx, text, **files):
    """What the scheduler says of a file when it reads it."""
    before = len(cx.log("sched"))
    cx.configure_sched(text, **files)
    return said(cx.log("sched")[before:])


def test_each_bad_line_is_named_with_its_number_in_the_words_of_pbs(complex):
    path = os.path.join(complex.home, "sched_priv", "sched_config")
    wrong = {}
    for line, words in REFUSED.items():
        if (told := after(complex, f"# a site's file\n{line}\n")) != [f"{path}: Error reading line 2: {INVALID}{words}"]:
            wrong[line] = told
    for line, words in PASSED_OVER.items():
        told = after(complex, f"# a site's file\n{line}\n")
        if told[:1] != [words] or any("Error reading" in more for more in told[1:]):  # each cycle says that a script is not there
            wrong[line] = told
    for line in GOOD:
        if told := after(complex, f"# a site's file\n{line}\n"):
            wrong[line] = told
    assert not wrong


def test_check_says_what_the_log_would_say_and_changes_nothing(complex):
    path = os.path.join(complex.work, "draft")
    wrong = {}
    for line, words in {**{k: f"Error reading line 2: {INVALID}{v}" for k, v in REFUSED.items()}, **PASSED_OVER, **{k: "" for k in GOOD}}.items():
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"# a draft\n{line}\n")
        done = complex.command("pbs_sched", "--check", "-c", path, check=False)
        if (done.returncode, done.stderr) != ((1, f"{path}: {words}\n") if words else (0, "")):
            wrong[line] = (done.returncode, done.stderr)
    assert not wrong


def test_usage_that_never_fades_is_said(complex):
    line, words = "fairshare_decay_time: 0\n", "fairshare_decay_time 0: usage never fades"
    assert after(complex, line) == [words]
    assert after(complex, "fairshare_decay_time: 1\n") == []
    complex.configure_sched("")


@pytest.mark.parametrize("value", ["0", "-1", "two"])
def test_a_bad_number_of_threads_is_refused(complex, value):
    done = complex.command("pbs_sched", "-t", value, "--check", check=False)
    assert (done.returncode, done.stderr) == (1, f"pbs_sched: option -t: {value}: bad num threads value\n")


def test_there_are_20_sort_keys_and_200_scripts_at_most(complex):
    keys = "".join('job_sort_key: "ncpus HIGH"\n' for _ in range(21))
    assert after(complex, keys) == ["Error reading line 21: Invalid job_sort_key: ncpus HIGH: there are more than 20"]
    scripts = "".join('server_dyn_res: "lic !/bin/false"\n' for _ in range(201))
    assert after(complex, scripts) == [f"Error reading line 201: Invalid server_dyn_res: lic !/bin/false: {SCRIPT}"]
    complex.configure_sched("")


def test_a_refused_file_leaves_the_former_one_in_force_and_stops_a_start(cx):
    cx.configure_sched("preemptive_sched: false\nmax_job_check: 1\n")
    path = os.path.join(cx.home, "sched_priv", "sched_config")
    words = f"{path}: Error reading line 2: {INVALID}by_queue: \"perhaps\" {NOT_BOOL}"
    assert after(cx, "max_job_check: ALL_JOBS\nby_queue: perhaps\n") == [words]
    with Simulator(cx, nodes=1, ncpus=1) as sim:
        cx.set_sched("scheduling", "False")
        jobs = [sim.job(select=f"1:ncpus=1:mem={n}gb") for n in (1, 2, 3)]
        cx.set_sched("scheduling", "True")
        cx.wait_log("sched", "Bailed out of main job loop after checking to see if 1 jobs could run.")
        cx.stop_daemon("sched")
        done = cx.command("pbs_sched", check=False)
        assert done.returncode == 1 and words in done.stderr
        with open(path, "w", encoding="utf-8") as f:
            f.write("by_queue: false\n")
        cx.restart("sched")
        until(lambda: "Insufficient amount of resource: ncpus" in comment(cx, jobs[2]), lambda: comment(cx, jobs[2]))


@pytest.mark.parametrize("how", ["hup", "restart", "server down"])
def test_a_setting_holds_however_the_scheduler_comes_to_read_it(cx, how):
    path = os.path.join(cx.home, "sched_priv", "sched_config")
    with Simulator(cx, nodes=1, ncpus=1) as sim:
        cx.wait(sim.job(select="1:ncpus=1"), "R")
        waits = sim.job(select="1:ncpus=1")
        until(lambda: "Insufficient" in comment(cx, waits), "a comment")
        text = 'update_comments: false\n'
        if how == "hup":
            cx.configure_sched(text)
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        if how == "restart":
            cx.restart("sched")
        if how == "server down":
            cx.kill("server")
            cx.configure_sched(text)
            cx.restart("server")
            cx.again()
            until(lambda: cx.node("s1").state in ("free", "job-busy"), "the simulated node")
        late = sim.job(select="1:ncpus=1:mem=1gb")
        until(lambda: f"{late};Insufficient amount of resource: ncpus" in cx.log("sched"), "a decision")
        assert faults.stays(lambda: not comment(cx, late), 0.5)
