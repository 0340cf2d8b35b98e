"""Limits that are looked at from time to time: $enforce of a host, and what a job may use on all its hosts together."""
import os

import pytest

from harness.ask import ended
from harness.mom_priv import add_lines, configure_live, reread
from harness.wait import until

BURN = "python3 -c 'import os, sys, time\nwhile sum(os.times()[:2]) < float(sys.argv[1]): pass\ntime.sleep(600)'"
TAKE = "python3 -c 'import sys, time; x = bytearray(int(sys.argv[1]) << 20); time.sleep(600)'"


def configure(cx, *lines, nodes=("n1",)):
    """More lines for the configuration of these nodes, and SIGHUP; samples every second."""
    for node in nodes:
        configure_live(cx, "$min_check_poll 1", "$max_check_poll 1", *lines, node=node)
        until(lambda n=node: cx.node(n)["state"] == "free", "the node")


@pytest.mark.complex(history=True)
@pytest.mark.parametrize("lines, word, status", [
    (("$enforce cpuaverage", "$enforce average_trialperiod 0", "$enforce average_cpufactor 0.1",
      "$enforce average_percent_over 0"), "(sum)", "-25"),
    (("$enforce cpuburst", "$enforce delta_cpufactor 0.05", "$enforce delta_percent_over 0",
      "$enforce delta_weightup 1"), "(burst)", "-24"),
])
def test_a_job_that_uses_more_processors_than_it_asked_for_is_killed(cx, lines, word, status):
    configure(cx, *lines)
    job = cx.submit(f"{BURN} 60")
    s = ended(cx, job)
    assert s["Exit_status"] == status and f" and exceeded resource ncpus {word}" in s["comment"]
    said = next(line for line in cx.file("err").splitlines() if "ncpus" in line)
    assert said.startswith("=>> PBS: job killed: ncpus ") and said.endswith(f"exceeded limit 1 {word}")


@pytest.mark.complex(history=True)
def test_cput_of_a_job_is_limited_on_its_host(cx):
    configure(cx)
    job = cx.submit(f"{BURN} 60", l_cput="1")
    assert ended(cx, job)["Exit_status"] == "-28"
    assert "exceeded limit 1" in cx.file("err")


@pytest.mark.complex(history=True, nodes=2)
def test_cput_of_all_hosts_together_is_limited(cx):
    """Neither of the hosts is over the limit."""
    configure(cx, nodes=("n1", "n2"))
    job = cx.submit(f"PATH={cx.build}/bin:$PATH\npbsdsh {BURN} 1.2", select="2:ncpus=1", l_place="scatter", l_cput="2")
    s = ended(cx, job)
    assert s["Exit_status"] == "-28" and "exceeded resource cput" in s["comment"]
    assert "=>> PBS: job killed: cput job total 3 secs exceeded limit 2 secs" in cx.file("err")


@pytest.mark.complex(history=True, nodes=2)
def test_memory_of_all_hosts_together_is_limited_where_the_site_wants_it(cx):
    configure(cx, "$enforce !mem", "$enforce complexmem", nodes=("n1", "n2"))
    job = cx.submit(f"PATH={cx.build}/bin:$PATH\npbsdsh {TAKE} 80", select="2:ncpus=1:mem=60mb", l_place="scatter")
    assert ended(cx, job)["Exit_status"] == "-27"
    assert "=>> PBS: job killed: mem job total " in cx.file("err")
    assert "kb exceeded limit 122880 kb" in cx.file("err")


def seconds(text):
    """Of a duration such as 00:01:05."""
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return total


@pytest.mark.complex(history=True)
def test_the_sites_script_that_ends_a_job_is_left_alone_by_later_looks_at_its_limits(cx):
    """The job goes on burning while the script is at work, so each sample finds it over its limit again."""
    path = os.path.join(cx.dir, "mom", "n1", "mom_priv", "ending")
    with open(path, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\necho begun >> {cx.work}/begun; until test -e {cx.work}/go; do sleep 0.1; done; echo > {cx.work}/done\n")
    os.chmod(path, 0o755)
    configure(cx, f"$action terminate 600 !{path}")
    job = cx.submit(f"trap '' TERM\n{BURN} 600", l_cput="1")
    until(lambda: cx.file("begun"), "the script")

    def used():
        return seconds(cx.stat(job)["resources_used"]["cput"])
    before = used()
    until(lambda: used() >= before + 3, "more samples")
    open(os.path.join(cx.work, "go"), "w", encoding="ascii").close()
    assert ended(cx, job)["Exit_status"] == "-28"
    assert cx.file("begun") == "begun\n" and cx.file("done")


@pytest.mark.complex(history=True, nodes=2)
def test_memory_of_all_hosts_together_is_not_limited_where_the_site_does_not_say_so(cx):
    configure(cx, "$enforce !mem", nodes=("n1", "n2"))
    script = f"PATH={cx.build}/bin:$PATH\npbsdsh {TAKE.replace('sleep(600)', 'sleep(5)')} 80"
    assert ended(cx, cx.submit(script, select="2:ncpus=1:mem=60mb", l_place="scatter"))["Exit_status"] == "0"


def test_a_rule_that_is_wrong_changes_nothing_and_says_what_there_is(cx):
    add_lines(cx, "$enforce average_cpu 1.5")
    reread(cx)
    until(lambda: 'no variable "average_cpu"; there are average_trialperiod' in cx.log("n1"), "the refusal")
