"""Who has used less of his share goes first; pbsfs shows and changes what was used."""
import os
import re

import pytest

from harness.sim import Simulator, starts_of
from harness.wait import until

pytestmark = pytest.mark.complex(nodes=0)

GROUP = "physics 10 root 60\nbiology 20 root 40\nanna 11 physics 1\nbert 12 physics 1\ncarl 21 biology 1\n"
CONFIG = """fair_share: true all
by_queue: false all
fairshare_entity: Account_Name
fairshare_usage_res: {res}
unknown_shares: {unknown}
"""


def configure(cx, res="walltime*10", unknown=0, more=""):
    cx.configure_sched(CONFIG.format(res=res, unknown=unknown) + more, resource_group=GROUP)


def pbsfs(cx, *words, check=True):
    return cx.command("pbsfs", *words, check=check)


def usage(cx, name):
    text = pbsfs(cx, "-g", name).stdout
    return int(re.search(r"^usage\s*: (\d+) ", text, re.M).group(1))


def priv(cx, name="usage"):
    return os.path.join(cx.home, "sched_priv", name)


@pytest.fixture
def sim(cx):
    with Simulator(cx, nodes=1, ncpus=1) as s:
        yield s


def job(sim, who, ms=1, **more):
    return sim.job(ms=ms, select="1:ncpus=1", Account_Name=who, **more)


def test_the_user_who_has_used_less_of_the_share_goes_first(cx, sim):
    configure(cx)
    pbsfs(cx, "-s", "anna", "5000")
    pbsfs(cx, "-s", "carl", "500")
    cx.set_sched("scheduling", "False")
    jobs = {who: job(sim, who) for who in ("anna", "bert", "carl")}
    until(lambda: "read again" in cx.log("sched"), "the scheduler to see what pbsfs wrote")
    cx.set_sched("scheduling", "True")
    # biology has used less than physics; of physics bert has
    assert starts_of(cx, list(jobs.values())) == [jobs["carl"], jobs["bert"], jobs["anna"]]


@pytest.mark.parametrize("term", ["fairshare_factor", "fairshare_perc - fairshare_tree_usage"])
def test_a_formula_knows_usage_and_shares_where_fair_share_is_off(cx, sim, term):
    configure(cx, more="fair_share: false all\n")
    pbsfs(cx, "-s", "anna", "5000")
    pbsfs(cx, "-s", "carl", "500")
    cx.set_sched("scheduling", "False")
    cx.set_server("job_sort_formula", term)
    jobs = {who: job(sim, who) for who in ("anna", "bert", "carl")}
    cx.set_sched("scheduling", "True")
    assert starts_of(cx, list(jobs.values())) == [jobs["carl"], jobs["bert"], jobs["anna"]]


def test_usage_that_pbsfs_writes_counts_in_the_next_cycle(cx, sim):
    configure(cx)
    cx.set_sched("scheduling", "False")
    jobs = {who: job(sim, who) for who in ("anna", "bert")}
    pbsfs(cx, "-s", "anna", "5000")
    cx.set_sched("scheduling", "True")  # a cycle at once
    assert starts_of(cx, list(jobs.values())) == [jobs["bert"], jobs["anna"]]


def test_a_usage_file_that_was_cut_short_is_kept_aside_and_said(cx, sim):
    configure(cx)
    pbsfs(cx, "-s", "anna", "100")
    pbsfs(cx, "-s", "bert", "100")
    cx.stop_daemon("sched")
    with open(priv(cx), encoding="utf-8") as f:
        text = f.read()
    with open(priv(cx), "w", encoding="utf-8") as f:
        f.write(text[:len(text) // 2])
    failed = pbsfs(cx, "-p", check=False)
    assert failed.returncode == 1 and "usage" in failed.stderr
    cx.restart("sched")
    until(lambda: os.path.exists(priv(cx, "usage.bad")), "the bad file kept aside")
    cx.wait_log("sched", "kept as usage.bad")
    with open(priv(cx, "usage.bad"), encoding="utf-8") as f:
        assert f.read() == text[:len(text) // 2]
    cx.wait_gone(job(sim, "anna"))
    assert usage(cx, "anna") < 100


def test_usage_that_pbsfs_sets_holds_and_usage_counted_meanwhile_is_added(cx, sim):
    configure(cx, res="1000 + walltime")
    cx.wait_gone(job(sim, "bert"))
    pbsfs(cx, "-s", "anna", "77")
    cx.wait_gone(job(sim, "carl"))
    until(lambda: usage(cx, "carl") >= 1001, "the use of the last job")
    assert usage(cx, "anna") == 77
    assert 1001 <= usage(cx, "bert") < 2000  # once, whichever wrote first


def test_usage_fades_when_its_time_has_come(cx, sim):
    configure(cx)
    pbsfs(cx, "-s", "anna", "100000")
    configure(cx, more="fairshare_decay_time: 1\nfairshare_decay_factor: 0.5\n")
    until(lambda: usage(cx, "anna") <= 50000, "the usage to fade")
    cx.wait_log("sched", "Decaying Fairshare Tree")


def test_jobs_of_a_user_without_shares_never_run_and_say_so(cx, sim):
    configure(cx)
    waits = job(sim, "stranger")
    until(lambda: (cx.stat(waits) or {}).get("comment") == "Not Running: Job has zero shares for fairshare",
          "the reason")
    configure(cx, more="fairshare_enforce_no_shares: false\n")
    cx.wait_gone(waits)


def test_a_wrong_resource_group_is_named_in_the_log(cx, sim):
    cx.configure_sched(CONFIG.format(res="cput", unknown=10), resource_group="anna 11 nobody 3\n")
    cx.wait_log("sched", "resgroup: error on line 1. Parent ginfo of anna doesnt exist.")


@pytest.mark.complex(nodes=0, sched=False)
class TestPbsfs:
    @pytest.fixture(autouse=True)
    def files(self, cx):
        for name, text in (("sched_config", CONFIG.format(res="cput", unknown=10)), ("resource_group", GROUP)):
            with open(priv(cx, name), "w", encoding="utf-8") as f:
                f.write(text)
        for name in ("usage", "usage.bak", "usage.touch"):
            if os.path.exists(priv(cx, name)):
                os.remove(priv(cx, name))

    def test_all_entities_are_printed_with_shares_usage_and_percentage(self, cx):
        lines = pbsfs(cx).stdout.splitlines()
        assert lines[0] == "Fairshare usage units are in: cput"
        assert lines[1] == "TREEROOT  : Grp: -1     cgrp: 0    Shares: -1     Usage: 1      Perc: 100.000%"
        assert lines[3] == "anna      : Grp: 10     cgrp: 11   Shares: 1      Usage: 1      Perc: 27.273%"
        assert lines == pbsfs(cx, "-p").stdout.splitlines()

    def test_the_tree_is_printed_with_five_blanks_a_level(self, cx):
        assert pbsfs(cx, "-t").stdout.splitlines() == [
            "TREEROOT(0)", "     physics(10)", "          anna(11)", "          bert(12)", "     biology(20)",
            "          carl(21)", "     unknown(1)"]

    def test_one_entity_is_shown_with_its_path(self, cx):
        pbsfs(cx, "-s", "anna", "91")
        text = pbsfs(cx, "-g", "anna").stdout
        for line in ("fairshare entity: anna", "Resgroup\t\t: 10", "cresgroup\t\t: 11", "Shares\t\t\t: 1",
                     "Percentage\t\t: 27.272727%", "fairshare_tree_usage\t: 1.000000", "usage\t\t\t: 91 (cput)",
                     "usage/perc\t\t: 334", "Path from root: "):
            assert line in text.splitlines()
        assert text.splitlines()[-1].split() == ["anna", ":", "11", "91", "/", "0.273", "=", "334"]

    def test_two_are_compared(self, cx):
        assert pbsfs(cx, "-c", "anna", "bert").stdout == "anna == bert\n"
        pbsfs(cx, "-s", "anna", "50")
        assert pbsfs(cx, "-c", "anna", "bert").stdout == "bert\n"
        assert pbsfs(cx, "-c", "anna", "carl").stdout == "carl\n"

    def test_decay_and_trim_keep_what_was_before(self, cx):
        pbsfs(cx, "-s", "anna", "100")
        with open(priv(cx), "a+", encoding="utf-8") as f:
            f.seek(0)
            lines = f.read().splitlines()
            f.truncate(0)
            f.write("\n".join([lines[0], "e 40 dora the second", *lines[1:-1], f"end {len(lines)}", ""]))
        assert usage(cx, "dora the second") == 40
        pbsfs(cx, "-d")
        assert usage(cx, "anna") == 50 and usage(cx, "dora the second") == 20
        with open(priv(cx, "usage.bak"), encoding="utf-8") as f:
            assert "e 100 anna" in f.read()
        assert os.path.exists(priv(cx, "usage.touch"))
        pbsfs(cx, "-e")
        assert pbsfs(cx, "-g", "dora the second", check=False).returncode == 1 and usage(cx, "anna") == 50

    @pytest.mark.parametrize("words", [("-g", "nobody"), ("-s", "nobody", "1"), ("-c", "anna", "nobody")])
    def test_who_does_not_exist_is_named(self, cx, words):
        failed = pbsfs(cx, *words, check=False)
        assert (failed.returncode, failed.stderr) == (1, "Fairshare Entity nobody does not exist.\n")

    @pytest.mark.parametrize("words", [("-s", "anna"), ("-g",), ("-p", "-t"), ("anna",), ("-x",)])
    def test_a_wrong_command_line_shows_the_usage(self, cx, words):
        failed = pbsfs(cx, *words, check=False)
        assert failed.returncode == 1 and "Usage: pbsfs -[ptdgcs] [-I sched_name]" in failed.stderr

    @pytest.mark.parametrize("value", ["-1", "many", "nan", "1e999"])
    def test_a_text_that_is_not_a_usage_is_refused(self, cx, value):
        failed = pbsfs(cx, "-s", "anna", "--", value, check=False)
        assert failed.returncode == 1 and f"{value} is not a usage" in failed.stderr

    def test_a_scheduler_without_files_is_an_error(self, cx):
        failed = pbsfs(cx, "-I", "other", check=False)
        assert failed.returncode == 1 and "sched_priv_other" in failed.stderr
