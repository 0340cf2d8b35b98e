"""What jobs run on and under which rules: vnodes, the server's settings, the scheduler's files.

From a few words ("16*ncpus=8,mem=32gb"), a file of such lines, the directory of a pbs_snapshot, or the live complex.
"""
import copy
import dataclasses
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import zlib

from .workload import BadInput, parse_size_kb, read_lines

VNODES_MAX = 16384    # as pbs_execsim
LINE = re.compile(r"(?:(\d{1,9})\s*\*\s*)?([A-Za-z_][\w.]*=[^=,\s]+(?:,[A-Za-z_][\w.]*=[^=,\s]+)*)")
KNOWN = {"ncpus", "mem", "vmem", "ngpus", "naccelerators", "arch", "host", "vnode", "mpiprocs", "ompthreads", "accelerator_memory"}
# Settings of a live server that concern its hosts, users and files, not its decisions.
LEFT_OUT = re.compile(r"set server (acl_|managers|operators|mail|log_|pbs_license|license|scheduling|flatuid|query_|webapi|"
                      r"jobscript|python_|db_|restrict_res_to|job_history|job_requeue_timeout|resources_assigned|"
                      r"default_qsub|default_qdel|default_node|server_host|elastic|node_fail|power_|rpp_|max_concurrent|"
                      r"backfill_prime|comment|hook|tcp)|set sched \w+ (sched_|log_|partition|comment|scheduling)")
SCHED_FILES = ("sched_config", "holidays", "resource_group", "usage", "dedicated_time")
NODES, SERVER, SCHEDULER = "node/pbsnodes_av_F_json.out", "server/qmgr_ps.out", "scheduler/qmgr_lsched.out"   # of a snapshot
SNAPSHOT_FILES = {NODES, SERVER, SCHEDULER, *(f"sched_priv/{name}" for name in SCHED_FILES)}
UNPACKED_MAX = 1 << 28   # bytes of each; 16,384 vnodes are some 20 MB


@dataclasses.dataclass
class Site:
    """`vnodes` is a list of (name, {resource: amount})."""
    vnodes: list
    server_lines: list
    sched_files: dict
    origin: str
    rules: str = "checkpoint 30 30\n"
    named: dict = dataclasses.field(default_factory=dict)   # what the caller's file for "rules" or "sched_config" is called

    def copy(self):
        return copy.deepcopy(self)

    def cpus(self):
        return sum(int(r.get("ncpus", 0)) for _, r in self.vnodes)

    def widest(self):
        """Cpus of the vnode that has the most."""
        return max((int(r.get("ncpus", 0)) for _, r in self.vnodes), default=0)

    def nodes_text(self):
        return "".join(f"{name} {' '.join(f'{k}={v}' for k, v in r.items())}\n" for name, r in self.vnodes)

    def queues(self):
        return {m[1] for m in (re.match(r"create queue (\S+)", line) for line in self.server_lines) if m}

    def default_queue(self):
        found = [m[1] for m in (re.match(r"set server default_queue = (\S+)", line) for line in self.server_lines) if m]
        return found[-1] if found else "workq"

    def express_queues(self):
        """Those whose priority makes their jobs urgent (preempt_queue_prio is 150 unless a sched says else)."""
        least, out = 150, set()
        for line in self.server_lines:
            found = re.match(r"set sched \S+ preempt_queue_prio = (\d+)", line)
            least = int(found[1]) if found else least
        for line in self.server_lines:
            found = re.match(r"set queue (\S+) [Pp]riority = (\d+)", line)
            if found and int(found[2]) >= least:
                out.add(found[1])
        return out

    def add_queue(self, name, priority=None):
        self.server_lines += [f"create queue {name} queue_type = Execution", f"set queue {name} enabled = True",
                              f"set queue {name} started = True"]
        if priority is not None:
            self.server_lines.append(f"set queue {name} Priority = {priority}")

    def add_nodes(self, n):
        """More vnodes like the last one."""
        if not self.vnodes:
            raise BadInput("--add-nodes: the cluster has no vnode to copy")
        if len(self.vnodes) + n > VNODES_MAX:
            raise BadInput(f"--add-nodes {n}: more than {VNODES_MAX} vnodes")
        names = {name for name, _ in self.vnodes}
        number = 0
        while n:
            number += 1
            if f"more{number}" not in names:
                self.vnodes.append((f"more{number}", dict(self.vnodes[-1][1])))
                n -= 1


def default_sched_config(exec_dir):
    path = os.path.join(exec_dir, "etc", "pbs_sched_config")
    return "\n".join(text for _, text in read_lines(path)) + "\n"


def _kind(where, text):
    """(count, {resource: amount}) of "16*ncpus=8,mem=32gb"."""
    found = LINE.fullmatch(text.strip())
    if not found:
        raise BadInput(f"{where}: \"{text.strip()[:60]}\" does not describe vnodes; write 16*ncpus=8,mem=32gb")
    amounts = dict(word.split("=", 1) for word in found[2].split(","))
    if not re.fullmatch(r"\d{1,7}", amounts.get("ncpus", "")):
        raise BadInput(f"{where}: ncpus=NUMBER is missing in \"{text.strip()}\"")
    if "mem" in amounts and parse_size_kb(amounts["mem"]) is None:
        raise BadInput(f"{where}: mem={amounts['mem']} is no size")
    return int(found[1] or 1), amounts


def described(where_and_texts, exec_dir, origin):
    """A Site of lines like "16*ncpus=8,mem=32gb", with one queue."""
    vnodes = []
    for where, text in where_and_texts:
        count, amounts = _kind(where, text)
        if len(vnodes) + count > VNODES_MAX:
            raise BadInput(f"{where}: more than {VNODES_MAX} vnodes")
        vnodes += [(f"n{len(vnodes) + i}", amounts) for i in range(1, count + 1)]
    if not vnodes:
        raise BadInput(f"{origin}: there is no vnode in it")
    lines = [f"create resource {name} type={'long' if value.isdigit() else 'string'},flag={'nh' if value.isdigit() else 'h'}"
             for name, value in dict(p for _, r in vnodes for p in r.items()).items() if name not in KNOWN]
    return Site(vnodes, lines, {"sched_config": default_sched_config(exec_dir)}, origin)


# --- a complex that exists

def _command(words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise BadInput(f"--cluster live: {words[0]}: {e}") from e
    if done.returncode:
        raise BadInput(f"--cluster live: {' '.join(words)}: {' '.join(done.stderr.split())[:200]}")
    return done.stdout


def _vnodes(where, text):
    try:
        nodes = json.loads(text)["nodes"]
    except (ValueError, KeyError, TypeError) as e:
        raise BadInput(f"{where}: this is not what pbsnodes -av -F json prints ({e})") from e
    out = []
    for name, node in nodes.items():
        amounts = {k: str(v) for k, v in node.get("resources_available", {}).items()
                   if k not in ("host", "vnode", "arch") and re.fullmatch(r"[\w.,:+/-]+", str(v))}
        if int(amounts.get("ncpus", 0) or 0) > 0:
            out.append((name, amounts))
    if not out:
        raise BadInput(f"{where}: no vnode in it has cpus")
    return out[:VNODES_MAX]


def _lines(text):
    """What can be given to the server of a simulation, of `print server` and `print sched`."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    wanted = re.compile(r"(create|set) (queue|server|sched|resource)\b")
    return [line for line in lines if wanted.match(line) and not LEFT_OUT.match(line) and line != "create queue workq"]


def _listed_sched(text):
    """`list sched`, which a snapshot has, as settings."""
    out, name = [], None
    for line in text.splitlines():
        if line.startswith("Sched "):
            name = line.split()[1]
        elif name and " = " in line and re.match(r"\s*(preempt_|backfill|only_|opt_|throughput|do_not|job_sort|job_run_wait)",
                                                 line):
            key, value = line.strip().split(" = ", 1)
            out.append(f'set sched {name} {key} = "{value}"' if re.search(r"[ ,]", value) and '"' not in value
                       else f"set sched {name} {key} = {value}")
    return [line for line in out if not LEFT_OUT.match(line)]


def _sched_files(folder, exec_dir):
    """Text by name, and what could not be read."""
    files, notes = {}, []
    for name in SCHED_FILES:
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                files[name] = f.read()
        except FileNotFoundError:
            continue
        except OSError as e:
            notes.append(f"{path}: {e.strerror}; the defaults are used")
    if "sched_config" not in files:
        files["sched_config"] = default_sched_config(exec_dir)
        notes.append(f"{folder}: no sched_config could be read; that of a new complex is used")
    return files, notes


def _text(path):
    return "\n".join(text for _, text in read_lines(path))


def of_snapshot(folder, exec_dir, name=None):
    """(Site, notes) of the directory that pbs_snapshot writes, which the report calls by its name, or by another."""
    nodes = os.path.join(folder, NODES)
    files, notes = _sched_files(os.path.join(folder, "sched_priv"), exec_dir)
    lines = _lines(_text(os.path.join(folder, SERVER)))
    sched = os.path.join(folder, SCHEDULER)
    if os.path.exists(sched):
        lines += _listed_sched(_text(sched))
    return Site(_vnodes(nodes, _text(nodes)), lines, files, f"snapshot {name or os.path.basename(folder.rstrip('/'))}"), notes


def _unpack(archive, folder):
    """Write the files that are used, and no others, below the folder; what they are called there the archive does not decide."""
    for member in archive:
        name = member.name.partition("/")[2]
        if name not in SNAPSHOT_FILES or not member.isfile():
            continue
        if member.size > UNPACKED_MAX:
            raise BadInput(f"{archive.name}: {member.name} is larger than {UNPACKED_MAX >> 20} MB")
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with archive.extractfile(member) as said, open(path, "wb") as out:
            shutil.copyfileobj(said, out)


def of_archive(path, exec_dir):
    """The same of the archive, as pbs_snapshot leaves it."""
    with tempfile.TemporaryDirectory(prefix="pbs_sim.") as folder:
        try:
            with tarfile.open(path) as archive:
                _unpack(archive, folder)
        except (tarfile.TarError, zlib.error, EOFError, OSError) as e:
            raise BadInput(f"{path}: this archive cannot be read ({e})") from e
        if not os.path.exists(os.path.join(folder, NODES)):
            raise BadInput(f"{path}: this is no archive of pbs_snapshot: it has no {NODES}")
        return of_snapshot(folder, exec_dir, os.path.basename(path))


def _is_archive(path):
    try:
        return tarfile.is_tarfile(path)
    except OSError:
        return False   # read_lines says why


def of_live(exec_dir):
    """(Site, notes) of the complex that commands of the caller speak to: it is only asked."""
    bin_dir = os.path.join(exec_dir, "bin")
    home = _conf().get("PBS_HOME", "/var/spool/pbs")
    files, notes = _sched_files(os.path.join(home, "sched_priv"), exec_dir)
    lines = _lines(_command([os.path.join(bin_dir, "qmgr"), "-c", "print server"])) + _listed_sched(
        _command([os.path.join(bin_dir, "qmgr"), "-c", "list sched"]))
    text = _command([os.path.join(bin_dir, "pbsnodes"), "-av", "-F", "json"])
    return Site(_vnodes("pbsnodes", text), lines, files, "the live complex"), notes


def _conf():
    path = os.environ.get("PBS_CONF_FILE", "/etc/pbs.conf")
    try:
        with open(path, encoding="utf-8") as f:
            return dict(line.strip().split("=", 1) for line in f if "=" in line and not line.startswith("#"))
    except OSError:
        return {}


def read(texts, exec_dir):
    """(Site, notes) of the words of --cluster."""
    if texts == ["live"]:
        return of_live(exec_dir)
    if len(texts) == 1 and texts[0].startswith("@"):
        path = texts[0][1:]
        if os.path.isdir(path):
            return of_snapshot(path, exec_dir)
        if _is_archive(path):
            return of_archive(path, exec_dir)
        rows = [(f"{path}, line {n}", t.partition("#")[0]) for n, t in read_lines(path)]
        return described([(w, t) for w, t in rows if t.strip()], exec_dir, os.path.basename(path)), []
    rows = [("--cluster", t) for text in texts for t in text.split("+")]
    return described(rows, exec_dir, " + ".join(texts)), []
