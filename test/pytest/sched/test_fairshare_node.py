"""Shares on a real node: what jobs use counts once, and who has used more than his share gives way."""
import re

import pytest

from harness.mom_priv import configure
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=1, ncpus=2)

GROUP = "anna 11 root 50\nbert 12 root 50\n"
CONFIG = "fair_share: true\nfairshare_entity: Account_Name\nfairshare_usage_res: "


def usage(cx, name):
    text = cx.command("pbsfs", "-g", name).stdout
    return int(re.search(r"^usage\s*: (\d+) ", text, re.M).group(1))


def test_use_is_counted_once_and_survives_a_killed_scheduler(cx):
    cx.configure_sched(CONFIG + "100 + walltime", resource_group=GROUP)
    cx.wait_gone(cx.submit("true", Account_Name="anna"))
    runs = cx.submit(Account_Name="bert")
    until(lambda: usage(cx, "anna") >= 101 and usage(cx, "bert") >= 101, "usage of both jobs")
    before = usage(cx, "anna")
    cx.kill("sched")
    cx.restart("sched")
    cx.api.delete(runs)
    cx.wait_gone(runs)
    cx.stop_daemon("sched")  # which writes what is not written
    assert usage(cx, "anna") == before and 101 <= usage(cx, "bert") < 200


def test_usage_of_a_running_job_counts_while_it_runs(cx):
    configure(cx, "$min_check_poll 1", "$max_check_poll 1")
    cx.configure_sched(CONFIG + "walltime", resource_group=GROUP)
    cx.wait(cx.submit(Account_Name="bert"))

    def grown():
        cx.set_sched("scheduling", "True")  # is a cycle each time, for which running jobs are asked
        return usage(cx, "bert") > 1
    until(grown, "what the running job uses")
    assert usage(cx, "anna") == 1


def test_a_job_of_a_user_over_share_is_preempted_for_one_of_a_user_under_share(cx):
    cx.configure_sched(CONFIG + "cput", resource_group=GROUP)
    cx.set_sched("preempt_prio", "normal_jobs, fairshare")
    cx.command("pbsfs", "-s", "anna", "100000")
    cx.command("pbsfs", "-s", "bert", "10")
    over = cx.submit(select="1:ncpus=2", Account_Name="anna")
    cx.wait(over)
    urgent = cx.submit(select="1:ncpus=1", Account_Name="bert")
    cx.wait(urgent)
    assert cx.state(over) == "S"
    until(lambda: "Job preempted by suspension" in cx.log("sched"), "the scheduler to hear of it")
