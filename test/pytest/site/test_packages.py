"""The Debian packages, in a clean root: installed, upgraded under a running job, removed, purged; and the RPM packages, which have the same files
and live through the same day.
With --packages only: it builds them and a root, for which packages of Debian are fetched, and takes some minutes."""
import glob
import json
import os
import re
import shutil
import subprocess

import pytest

from harness import browser
from harness.installed import source_version
from harness.machine import Lan, Machine

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
TOOLS = ("dpkg-buildpackage", "dh", "mmdebstrap")
# One host: names, network and processes of its own.
HOST = """
mount --make-rprivate /
mount -t proc proc {root}/proc
mount -t sysfs sys {root}/sys
mount --rbind /sys/fs/cgroup {root}/sys/fs/cgroup
mount -t tmpfs shm {root}/dev/shm
ip link set lo up
hostname pk1
exec chroot {root} /bin/bash -euc '{script}'
"""


@pytest.fixture(scope="module")
def debs(request, tmp_path_factory):
    """The packages of this tree, without their symbols."""
    if not request.config.getoption("--packages"):
        pytest.skip("--packages is not given: it builds packages and a root, which takes minutes and a network")
    missing = [t for t in TOOLS if not shutil.which(t)]
    if os.geteuid() != 0 or missing:
        pytest.skip(f"needs root and {', '.join(TOOLS)}; missing: {', '.join(missing) or 'root'}")
    found = [d for d in built("deb", tmp_path_factory) if "-dbgsym_" not in d]
    assert len(found) == 10
    return found


def built(kind, tmp_path_factory):
    """The files that `make deb` or `make rpm` makes."""
    place = str(tmp_path_factory.mktemp("build"))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "CEDE_"))}
    subprocess.run(["make", kind, f"BUILD={place}"], cwd=TOP, env=env, check=True, stdin=subprocess.DEVNULL)
    return glob.glob(os.path.join(place, f"{kind}/*.{kind}"))


def field(deb, name):
    return subprocess.run(["dpkg-deb", "-f", deb, name], check=True, capture_output=True, text=True).stdout.strip()


def dependencies(debs):
    """Names of packages of Debian that these depend on."""
    words = ",".join(field(d, "Depends") for d in debs).split(",")
    names = {re.sub(r"[ (].*", "", w.strip()) for w in words if w.strip()}
    return sorted(names - {field(d, "Package") for d in debs})


def later(deb, directory):
    """The same package of a later version."""
    tree = os.path.join(directory, "tree")
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    control = os.path.join(tree, "DEBIAN/control")
    with open(control, encoding="utf-8") as f:
        text = f.read()
    version = field(deb, "Version")
    text = text.replace(f"Version: {version}\n", f"Version: {version}.1\n").replace(f"(= {version})", f"(= {version}.1)")
    text = text.replace(f"(>= {version})", f"(>= {version}.1)").replace(f"(<< {version}.1~)", f"(<< {version}.1.1~)")
    with open(control, "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run(["dpkg-deb", "-b", tree, directory], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)


def make_root(place, *packages):
    """A Debian of this release with these packages of it."""
    with open("/etc/os-release", encoding="utf-8") as f:
        suite = re.search(r"VERSION_CODENAME=(\w+)", f.read()).group(1)
    subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", f"--include=procps,{','.join(packages)}", suite, place],
                   check=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def root(debs, tmp_path_factory):
    """A Debian with what the packages need, and the packages in two versions in /debs and /later."""
    place = str(tmp_path_factory.mktemp("packages") / "root")
    make_root(place, "pkg-config", *dependencies(debs))
    for name in ("debs", "later"):
        os.mkdir(os.path.join(place, name))
    for deb in debs:
        shutil.copy(deb, os.path.join(place, "debs"))
        later(deb, os.path.join(place, "later"))
    yield place
    shutil.rmtree(place)


def on_host(root, script):
    words = ["unshare", "--net", "--pid", "--uts", "--mount", "--fork", "--kill-child", "sh", "-ec",
             HOST.format(root=root, script=script.replace("'", "'\\''"))]
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=170, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout + done.stderr


# A job of an ordinary user begins, and runs over what is done to the packages; it ends, and the daemons with it.
A_JOB_RUNS = """
/usr/lib/pbs/libexec/pbs_init.d start
su anna -c "cd; echo 'while [ ! -e go ]; do sleep 0.1; done; echo done' | qsub -N long"
until su anna -c qstat | grep -q " R workq"; do sleep 0.1; done
"""
THE_JOB_ENDS = """
touch /home/anna/go
until [ -e /home/anna/long.o0 ]; do sleep 0.1; done
echo "output: $(cat /home/anna/long.o0)"
until [ -z "$(qstat)" ]; do sleep 0.1; done
while pidof pbs_shepherd >/dev/null && [ "$(pidof pbs_shepherd | wc -w)" -gt 1 ]; do sleep 0.1; done
/usr/lib/pbs/libexec/pbs_init.d stop
"""
DAY = """
grep -q pk1 /etc/hosts || echo "127.0.1.1 pk1" >>/etc/hosts
useradd -m anna
dpkg -i /debs/*.deb
""" + A_JOB_RUNS + """
dpkg -i /later/*.deb
su anna -c qstat | grep " R workq"
dpkg -s cede-mom | grep "^Version"
echo "import cede; print(*[(j.title, j.state) for j in cede.connect().jobs()])" >/look.py
su anna -c "python3 /look.py"
su anna -c "pbs_web token" | grep -q . && pkg-config --exists pbs tm
if dpkg -r cede-mom; then echo "cede-mom was removed under a job"; exit 1; fi
""" + THE_JOB_ENDS + """
dpkg -P cede-server cede-mom cede-common cede-client libpam-pbs cede-web cede-doc python3-cede libpbs-dev libpbs0
ls -d /var/spool/pbs
if [ -e /etc/pbs.conf ] || [ -e /usr/lib/pbs ] || pidof pbs_server pbs_mom pbs_sched; then echo "something is left"; exit 1; fi
"""


@pytest.mark.timeout(900)
def test_a_host_is_installed_upgraded_under_a_running_job_and_purged(root):
    code, text = on_host(root, DAY)
    assert code == 0, text
    assert "Jobs run on this host (pbs_shepherd" in text
    assert "('long', 'R')" in text and "output: done" in text and f"Version: {source_version()}.1" in text


# A host with systemd.
SYSTEMD_DAY = """
dpkg -i /debs/*.deb
pbs_setup --no-shared-home server
systemctl is-enabled pbs
until pbsnodes n1 | grep -q 'state = free'; do sleep 0.1; done
su - anna -c "echo 'while [ ! -e go ]; do sleep 0.1; done; echo done' | qsub -N long -l mem=100mb"
until systemctl status pbs.slice | grep -q '0.n1.SC'; do sleep 0.1; done
if systemctl status pbs-mom | grep '0.n1.SC'; then echo "a job is in the unit of the MOM"; exit 1; fi
qsig -s suspend 0 && qstat | grep ' S workq'
main() { systemctl show -p MainPID --value pbs-$1; }
for daemon in server mom sched; do
    killed=$(main $daemon)
    kill -9 $killed
    until now=$(main $daemon); [ $now != 0 ] && [ $now != $killed ]; do sleep 0.1; done
done
if systemctl stop pbs-jobs; then echo "the groups of jobs were given up"; exit 1; fi
until qsig -s resume 0; do sleep 0.5; done
dpkg -i /later/*.deb
systemctl restart pbs
systemctl stop pbs
until [ "$(systemctl is-active pbs-mom)" = inactive ]; do sleep 0.1; done
systemctl status pbs.slice | grep '0.n1.SC'
systemctl start pbs
until qstat | grep ' R workq'; do sleep 0.1; done
touch /home/anna/go
until [ -e /home/anna/long.o0 ]; do sleep 0.1; done
echo "output: $(cat /home/anna/long.o0)"
while [ "$(pidof pbs_shepherd | wc -w)" -gt 1 ]; do sleep 0.1; done
dpkg -P cede-server cede-mom cede-common cede-client libpam-pbs cede-web cede-doc python3-cede libpbs-dev libpbs0
rm -r /var/spool/pbs
systemctl list-units --all --plain --no-legend 'pbs*.service' | sed 's/^/left: /'
find / -xdev -name '*pbs*' -not -path '/debs/*' -not -path '/later/*' | sed 's/^/left: /'
find /sys/fs/cgroup -path '*pbs.slice/*' -type d | sed 's/^/left: /'
"""


@pytest.fixture(scope="module")
def systemd_root(debs, root, tmp_path_factory):
    """A Debian with systemd and what the packages need, which are in /debs and /later; it has the user anna."""
    place = str(tmp_path_factory.mktemp("systemd") / "root")
    make_root(place, "systemd-sysv", "dbus", "iproute2", "munge", "curl", "prometheus", "openssh-server", "libpam-systemd", *dependencies(debs))
    for name in ("debs", "later"):
        shutil.copytree(os.path.join(root, name), os.path.join(place, name))
    subprocess.run(["chroot", place, "useradd", "-u", "12345", "anna"], check=True)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def machines(systemd_root, tmp_path):
    """machines(count): so many, with one /home."""
    lan, made = Lan(), []
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    (home / "anna").mkdir()
    os.chown(home / "anna", 12345, 12345)

    def of(count):
        for n in range(1, count + 1):
            made.append(Machine(lan, n, systemd_root, str(home), str(tmp_path)))
        return made
    yield of
    for m in made:
        m.stop()
    lan.stop()


@pytest.mark.timeout(900)
def test_systemd_as_the_first_process_keeps_daemons_and_the_groups_of_jobs(machines):
    """Set-up, each daemon killed, an upgrade, restart and stop under a job that is below pbs.slice; the end of it, and nothing left."""
    said = machines(1)[0].run(SYSTEMD_DAY)
    assert "output: done" in said and "left: " not in said, said


# Daemons that an administrator has started in a session, and then the units under a job of theirs.
BY_HAND_DAY = """
dpkg -i /debs/*.deb
pbs_setup --no-shared-home --no-start server
systemd-run --quiet --scope /usr/lib/pbs/libexec/pbs_init.d start
qmgr -c 'set server job_history_enable=True'
until pbsnodes n1 | grep -q 'state = free'; do sleep 0.1; done
su - anna -c "echo 'echo \\$\\$ >pid; while [ ! -e go ]; do sleep 0.1; done; echo done' | qsub -N long"
until [ -s /home/anna/pid ]; do sleep 0.1; done
by_hand=$(pidof pbs_server pbs_mom pbs_sched)
[ $(echo $by_hand | wc -w) = 3 ]
if systemctl start pbs-mom; then echo "a unit took a daemon that was not its own"; exit 1; fi
systemctl reset-failed
pbs_setup --no-shared-home server
for pid in $by_hand; do [ ! -e /proc/$pid ]; done
mains() { for daemon in server mom sched; do systemctl show -p MainPID --value pbs-$daemon; done; }
systemctl is-active pbs-server pbs-mom pbs-sched
[ "$(mains | sort)" = "$(pidof pbs_server pbs_mom pbs_sched | tr ' ' '\\n' | sort)" ]
[ -e /proc/$(cat /home/anna/pid) ]
until qstat | grep ' R workq'; do sleep 0.1; done
until pbsnodes n1 | grep -q 'state = .*free'; do sleep 0.1; done
before=$(mains)
pbs_setup --no-shared-home server
[ "$(mains)" = "$before" ]
qsig -s suspend 0
qsig -s resume 0
touch /home/anna/go
until [ -e /home/anna/long.o0 ]; do sleep 0.1; done
echo "output: $(cat /home/anna/long.o0)"
until qstat -xf 0 | grep 'job_state = F'; do sleep 0.1; done
qstat -xf 0 | grep -E 'run_count|Exit_status'
"""


@pytest.mark.timeout(900)
def test_daemons_that_were_started_by_hand_are_handed_to_their_units_under_a_job(machines):
    """pbs_setup ends them before it enables the units, and what the units run it leaves alone."""
    said = machines(1)[0].run(BY_HAND_DAY)
    assert "output: done" in said and "run_count = 1" in said and "Exit_status = 0" in said, said


# sshd as Debian has it, with pam_systemd; then both lines of pam_pbs(8).
SSH_DAY = """
dpkg -i /debs/*.deb
pbs_setup --no-shared-home server
until pbsnodes n1 | grep -q 'state = free'; do sleep 0.1; done
usermod -s /bin/bash anna
su - anna -c "mkdir -m 700 .ssh; ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519; cp .ssh/id_ed25519.pub .ssh/authorized_keys"
sed -i '/^@include common-account/a account required pam_pbs.so' /etc/pam.d/sshd
systemctl start ssh
login() { su - anna -c "ssh -o StrictHostKeyChecking=no n1 '$1'"; }
if login true; then echo "a login without a job"; exit 1; fi
su - anna -c "echo sleep 600 | qsub -l mem=200mb"
until qstat | grep -q ' R workq'; do sleep 0.1; done
login 'cat /proc/self/cgroup' | grep 'user.slice.*session-.*scope' | sed 's/^/account alone: /'
echo 'session required pam_pbs.so' >>/etc/pam.d/sshd
login 'cat /proc/self/cgroup' | grep 'pbs-jobs.service.*0.n1' | sed 's/^/session last: /'
login 'echo $$ >login; exec sleep 600' &
until [ -s /home/anna/login ]; do sleep 0.1; done
systemctl daemon-reload
grep 'pbs-jobs.service.*0.n1' /proc/$(cat /home/anna/login)/cgroup | sed 's/^/after a reload: /'
qdel 0
if wait $!; then echo "the login has ended by itself"; exit 1; fi
[ ! -e /proc/$(cat /home/anna/login) ]
"""


@pytest.mark.timeout(900)
def test_a_login_stays_with_its_job_where_pam_pbs_is_behind_pam_systemd(machines):
    said = machines(1)[0].run(SSH_DAY)
    assert "Access denied by pam_pbs: anna has no running job on n1" in said, said
    assert "account alone: " in said and "session last: " in said and "after a reload: " in said, said


@pytest.mark.timeout(900)
def test_a_newcomer_with_three_machines_sees_a_preemption_on_a_page_and_as_a_graph(machines, tmp_path):
    """Every line of doc/first-cluster.md, in their order; then the page in a browser and the curve of Prometheus."""
    hosts = {m.name: m for m in machines(3)}
    with open(os.path.join(TOP, "doc", "first-cluster.md"), encoding="utf-8") as f:
        lines = re.findall(r"^    (n[123])([#$]) (.*)$", f.read(), re.M)
    assert len(lines) > 25
    token = web = None
    for name, prompt, command in lines:
        said = hosts[name].run(command.replace("TOKEN", token or ""), user="anna" if prompt == "$" else None)
        if command.startswith("pbs_setup token"):
            token = re.search(r"--token (\S+)", said).group(1)
        if command == "pbs_web token":
            web = said.split()[-1]
        if "urgent.py" in command:
            assert " gives way and is now Q" in said and re.search(r"is over, [1-9]\d* gave way", said), said
    n1 = hosts["n1"]
    assert '"Q"' in n1.run("curl -fsS -G http://127.0.0.1:9090/api/v1/query_range --data-urlencode start=$(($(date +%s) - 120)) --data-urlencode "
                               "end=$(date +%s) -d step=15 --data-urlencode 'query=sum by (method) (increase(pbs_preemptions_total[10m])) > 0'")
    if not browser.program():
        return
    page = browser.Browser(tmp_path / "browser", prefix=["nsenter", "-t", n1.first, "-n"])
    try:
        page.go("http://127.0.0.1:8080/")
        page.wait("document.getElementById('login').open")
        page.js(f"document.getElementById('token').value = {json.dumps(web)}; document.querySelector('#login button').click()")
        page.wait("document.body.dataset.ready === 'yes'")
        page.js("location.hash = '#preemptions'")
        page.wait("[...document.querySelectorAll('tbody tr')].some(r => r.textContent.includes('requeued'))")
    finally:
        page.stop()


@pytest.mark.timeout(900)
def test_lintian_finds_no_error(debs):
    if not shutil.which("lintian"):
        pytest.skip("no lintian")
    done = subprocess.run(["lintian", "--fail-on", "error", *debs], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


RPM_NAMES = {"libpbs-dev": "libpbs-devel"}
# Of the distribution, not of a list: changes and licences of a package, what lintian is told, links that a package of symbols has.
OF_DEBIAN = re.compile(r"/usr/share/(doc/(cede|libpam|libpbs|python3)[^/]*/(changelog|copyright)|lintian/)")


def files_of_deb(deb):
    """Names of files, as an RPM of this system has them."""
    lines = subprocess.run(["dpkg-deb", "-c", deb], check=True, capture_output=True, text=True).stdout.splitlines()
    names = [re.sub(r" -> .*", "", line.split(None, 5)[5])[1:] for line in lines if not line.startswith("d")]
    names = [re.sub(r"^/usr/lib/[a-z0-9_]+-linux-gnu[a-z0-9]*/", "/LIB/", n.replace("/python3/dist-packages/", "/PYTHON/")) for n in names]
    return {n.removesuffix(".gz") for n in names if not OF_DEBIAN.match(n)}


def files_of_rpm(rpm):
    lines = subprocess.run(["rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", rpm], check=True, capture_output=True, text=True).stdout
    names = [line.split()[1] for line in lines.splitlines() if not line.startswith("d")]
    names = [re.sub(r"/usr/lib/python3[.0-9]*/(site|dist)-packages/", "/usr/lib/PYTHON/", n).replace("/usr/lib64/", "/LIB/") for n in names]
    return {n.removesuffix(".gz") for n in names if not n.startswith("/usr/share/licenses/")}


@pytest.fixture(scope="module")
def rpms(debs, tmp_path_factory):
    if not shutil.which("rpmbuild"):
        pytest.skip("no rpmbuild")
    return {re.sub(r"-[0-9][^/]*$", "", os.path.basename(r)): r for r in built("rpm", tmp_path_factory)}


@pytest.mark.timeout(900)
def test_an_rpm_package_has_the_files_of_its_debian_package(debs, rpms):
    assert set(rpms) == {RPM_NAMES.get(field(d, "Package"), field(d, "Package")) for d in debs}
    for deb in debs:
        name = field(deb, "Package")
        assert files_of_rpm(rpms[RPM_NAMES.get(name, name)]) == files_of_deb(deb), name


# rpm does not know the packages of Debian that these need, so it is told not to ask.
RPM_DAY = """
grep -q pk1 /etc/hosts 2>/dev/null || echo "127.0.0.1 localhost pk1" >>/etc/hosts
useradd -m anna
rpm -i --nodeps /rpms/*.rpm
""" + A_JOB_RUNS + """
rpm -U --force --nodeps /rpms/*.rpm
su anna -c qstat | grep " R workq"
if rpm -e --nodeps cede-mom; then echo "cede-mom was removed under a job"; exit 1; fi
""" + THE_JOB_ENDS + """
rpm -e --nodeps NAMES
ls -d /etc/pbs.conf /var/spool/pbs
if [ -e /usr/lib/pbs ] || [ -e /usr/bin/qsub ] || pidof pbs_server pbs_mom pbs_sched; then find /usr/lib/pbs; echo "something is left"; exit 1; fi
"""


@pytest.mark.timeout(900)
def test_rpm_packages_are_installed_replaced_under_a_running_job_and_removed(debs, rpms, tmp_path_factory):
    place = str(tmp_path_factory.mktemp("rpms") / "root")
    make_root(place, "rpm", *dependencies(debs))
    os.mkdir(os.path.join(place, "rpms"))
    for rpm in rpms.values():
        shutil.copy(rpm, os.path.join(place, "rpms"))
    code, text = on_host(place, RPM_DAY.replace("NAMES", " ".join(rpms)))
    shutil.rmtree(place)
    assert code == 0, text
    assert "Next: pbs_setup server" in text and "Jobs run on this host (pbs_shepherd" in text and "output: done" in text
