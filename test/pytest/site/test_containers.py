"""Files for containers: no engine runs here, so their parts are held against the tree, and what a container runs is run on hosts that are
namespaces."""
import os
import pathlib
import re
import subprocess

import pytest

from harness import site as sites
from harness.wait import until

TOP = pathlib.Path(__file__).parents[3]
FOLDER = TOP / "packaging" / "container"
why_not = sites.reason_against()


def test_the_image_has_files_that_are_there_and_the_libraries_that_programs_need_and_the_page_names():
    text = (FOLDER / "Containerfile").read_text().replace("\\\n", " ")
    copied = [line.split()[1] for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line]
    assert len(copied) == 4 and [c for c in copied if not (TOP / c).exists()] == []
    entry = re.search(r'ENTRYPOINT \["/opt/pbs/libexec/(.*)"\]', text).group(1)
    assert os.access(FOLDER / entry, os.X_OK) and f"COPY packaging/container/{entry} /opt/pbs/libexec/{entry}" in text
    packages = re.search(r"apt-get install -y --no-install-recommends +(.*?) &&", text).group(1).split()
    build = pathlib.Path(os.environ["CEDE_BUILD"])
    programs = [p for folder in ("bin", "sbin", "libexec") for p in (build / folder).rglob("*") if p.is_file() and p.name != "pbs_web"]
    needed = set()
    for p in programs:
        found = subprocess.run(["readelf", "-d", p], capture_output=True, text=True, check=False).stdout
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", found))
    page = (TOP / "doc" / "running.md").read_text().replace("\\\n", " ")
    assert re.search(r"apt-get install --no-install-recommends +(libedit2 .*)", page).group(1).split() == packages
    here = subprocess.run(["dpkg", "-L", *packages], capture_output=True, text=True, check=False).stdout
    libraries = {os.path.basename(line) for line in here.splitlines()}
    libc = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|resolv|gcc_s|asan|ubsan)\.so\.\d+)$")
    assert len(needed) > 8 and {n for n in needed - libraries if not libc.match(n)} == set()


def test_the_hosts_of_the_compose_file_are_those_that_its_server_lets_in():
    text = (FOLDER / "compose.yaml").read_text()
    services = text[text.index("services:"):text.index("\nvolumes:")]
    hosts = dict(re.findall(r"^  (n\d+): \{<<: \*host, hostname: (\w+), command: \[mom, server\], depends_on: \[server\]\}$", services, re.M))
    let_in = re.search(r"command: \[server, (.*)\]", services).group(1).split(", ")
    assert let_in == list(hosts) == list(hosts.values()) == ["n1", "n2", "n3"]
    mounted = re.search(r'volumes: \[(.*)\]', text).group(1).replace('"', "").split(", ")
    assert [m.split(":")[0] for m in mounted] == re.findall(r"^  (\w+):$", text[text.index("\nvolumes:"):], re.M)
    assert "CEDE_JOIN: /join}" in text and "join:/join" in mounted and "home:/home" in mounted
    assert re.findall(r"dockerfile: (.*)}", text) == ["packaging/container/Containerfile"]


@pytest.mark.skipif(why_not is not None, reason=str(why_not))
def test_what_containers_run_makes_a_complex_and_ends_it_at_sigterm(plan):
    site = plan(hosts=2).boot()
    host = (FOLDER / "container-host").read_text()
    site.n1.run("mkdir -m 700 /home/join")
    for h, words in ((site.n1, "server n2"), (site.n2, "mom n1")):
        site.settle(h)
        h.write("tmp/container-host", host)
        h.root("kill $(cat /run/munge/pid); while [ -e /run/munge/pid ]; do sleep 0.05; done; rm -f /etc/munge.key")  # an image has no key
        h.run(f"CEDE_JOIN=/home/join setsid sh /tmp/container-host {words} </dev/null >/tmp/said 2>&1 & echo $! >/tmp/pid")
    until(lambda: "free" in site.n1.run("pbsnodes n2", check=False).stdout, lambda: f"n2 to join: {site.n1.read('tmp/said')} {site.n2.read('tmp/said')}")
    job = site.n1.submit("hostname; qselect -N out", "-N", "out", "-j", "oe", "-l", "select=1:host=n2")
    until(lambda: site.n1.file(f"out.o{job.split('.')[0]}") == f"n2\n{job}\n", lambda: f"the output of n2's job: {site.n1.file('out.o0')}")
    until(lambda: site.n1.root("ls /home/join").split() == ["munge.key"], "the word of n2 to be gone")
    until(lambda: "pbs_doctor looks" in site.n2.read("tmp/said"), "the end of its set-up")
    assert not re.search("^error", site.n2.read("tmp/said"), re.M), site.n2.read("tmp/said")
    for h in (site.n2, site.n1):
        h.run("kill -TERM $(cat /tmp/pid)")
        until(lambda h=h: h.run("kill -0 $(cat /tmp/pid)", check=False).returncode != 0, "the first process to end")
        assert not h.run("pgrep -x 'pbs_(server|sched|mom)'", check=False).stdout, h.read("tmp/said")
