"""pbs_setup: a complex made host by host, each by one command that can be given again."""
import re

import pytest

from harness import site as sites
from harness.wait import until

why_not = sites.reason_against()
pytestmark = pytest.mark.skipif(why_not is not None, reason=str(why_not))


def command_for(site, host):
    """What the server's host prints for a host that is to join."""
    said = site.n1.root(f"pbs_setup token {host}")
    return re.search(r"pbs_setup mom --join n1 --token \S+", said).group(0)


def test_a_server_and_a_second_host_are_set_up_by_a_command_each_and_run_jobs(plan):
    site = plan(hosts=2).boot()
    for h in (site.n1, site.n2):
        site.settle(h)
    said = site.n1.root("pbs_setup --shared-home /home server")
    assert "Wrote /etc/pbs.conf." in said and "PBS server" in said and "pbs_doctor looks at this host:" in said, said
    join = command_for(site, "n2")
    wrong = join[:-1] + ("0" if join[-1] != "0" else "1")
    done = site.n2.run(f"{wrong} --shared-home /home", check=False)
    assert done.returncode == 1 and "pbs_mom is not running" in site.n2.init("status"), done.stdout + done.stderr
    said = site.n2.root(f"{join} --shared-home /home")
    assert "/etc/pbs.conf stays as it is." in said and "The server has node n2: " in said, said
    assert "pbs_doctor looks at this host:" in said and "error:" not in said, said
    site.n1.root("qmgr -c 'set server job_history_enable=True'")
    job = site.n1.submit("hostname", "-N", "out", "-j", "oe", "-l", "select=1:host=n2")
    assert site.done(job)["Exit_status"] == 0
    until(lambda: site.n1.file(f"out.o{job.split('.')[0]}") == "n2\n", "the output of n2's job")

    # Again, with the token that is used up: nothing changes.
    before = [h.read("etc/pbs.conf") for h in (site.n1, site.n2)]
    said = site.n1.root("pbs_setup --shared-home /home server")
    assert "/etc/pbs.conf stays as it is." in said and "PBS Server already running." in said, said
    said = site.n2.root(f"{join} --shared-home /home")
    assert "This host has its identity as mom:n2" in said and "PBS mom already running." in said, said
    assert [h.read("etc/pbs.conf") for h in (site.n1, site.n2)] == before


def test_a_host_without_a_token_or_of_another_complex_is_left_as_it_is_and_told_why(plan):
    site = plan(hosts=2).boot()
    done = site.n2.run("pbs_setup mom --join n1", check=False)
    assert done.returncode == 1 and 'run "pbs_setup token n2" on n1' in done.stderr, done.stderr
    assert not site.n2.run("ls /etc/pbs.conf", check=False).stdout
    site.n2.write("etc/pbs.conf", "PBS_EXEC=/opt/pbs\nPBS_HOME=/var/spool/pbs\nPBS_SERVER=elsewhere\nPBS_START_MOM=1\n")
    for words in ("mom --join n1 --token x-y", "client n1"):
        done = site.n2.run(f"pbs_setup {words}", check=False)
        assert done.returncode == 1 and "names the server elsewhere, not n1" in done.stderr, done.stderr
    done = site.n2.run("pbs_setup server", check=False)
    assert done.returncode == 1 and "gives no server to this host" in done.stderr, done.stderr
    assert "PBS_SERVER=elsewhere\n" in site.n2.read("etc/pbs.conf")
    for words in ("", "mom", "token", "server n1", "--join n1 server", "nonsense"):
        assert site.n2.run(f"pbs_setup {words}", check=False).returncode == 2, words


def test_a_login_host_is_set_up_by_one_command_and_its_users_submit_and_look(plan):
    """A client starts no daemon and needs no token: it knows the server by its CA, and MUNGE says who its users are."""
    site = plan(hosts=2).boot()
    site.settle(site.n1)
    site.n1.root("pbs_setup --shared-home /home server")
    site.n1.root(command_for(site, "n1").replace("--join", "--shared-home /home --join"))
    site.n1.root("qmgr -c 'set server flatuid=True'; qmgr -c 'set server job_history_enable=True'")
    done = site.n2.run("pbs_setup client n1", check=False)
    assert done.returncode == 1 and 'run "pbs_keys ca" on n1' in done.stderr, done.stderr
    assert not site.n2.run("ls /etc/pbs.conf", check=False).stdout
    client = re.search(r"pbs_setup client n1 --ca (\S+)", site.n1.root("pbs_keys ca"))
    wrong = client.group(1)[:-1] + ("0" if client.group(1)[-1] != "0" else "1")
    for print_, words in ((wrong, "cannot fetch the CA of n1: "), (wrong[:-1], "it is not a whole fingerprint: 64")):
        done = site.n2.run(f"pbs_setup client n1 --ca {print_}", check=False)
        assert done.returncode == 1 and words in done.stderr, done.stderr
        assert not site.n2.run("ls /var/spool/pbs/certs/ca.crt", check=False).stdout
    said = site.n2.root(client.group(0))
    assert "ca.crt is the CA of n1" in said and "pbs_doctor looks at this host:" in said and "error:" not in said, said
    job = site.n2.submit("hostname", "-N", "out", "-j", "oe")
    assert site.done(job)["Exit_status"] == 0
    until(lambda: site.n2.file(f"out.o{job.split('.')[0]}") == "n1\n", "the output of the login host's job")
    assert site.job(job, on=site.n2)["Variable_List"]["PBS_O_HOST"] == "n2"

    # Again: nothing changes, and the CA of another complex is not replaced.
    before = site.n2.read("etc/pbs.conf")
    said = site.n2.root(client.group(0))
    assert "/etc/pbs.conf stays as it is." in said and site.n2.read("etc/pbs.conf") == before, said
    site.n2.root("openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -out /var/spool/pbs/certs/ca.crt -subj /CN=other 2>/dev/null")
    other = site.n2.read("spool/pbs/certs/ca.crt")
    done = site.n2.run(client.group(0), check=False)
    assert done.returncode == 1 and "belongs to another complex" in done.stderr, done.stderr
    assert site.n2.read("spool/pbs/certs/ca.crt") == other
