"""The site and workload of each simulation: those that were given, with one change or several.

    sched default preempt_order = R      any line of qmgr without its "set"
    backfill: False                      a line of sched_config
    --sched-config FILE, --add-nodes N, --urgent 5%
"""
import dataclasses
import random
import re

from .workload import BadInput, read_lines

OBJECTS = r"(?:server|queue|sched|node|resource)\b"
URGENT_QUEUE = "express"
URGENT_PRIORITY = 200


@dataclasses.dataclass
class Variant:
    """`changes` are functions of the site; urgent is the share of jobs that become urgent, or None for as they are."""
    name: str
    changes: list = dataclasses.field(default_factory=list)
    urgent: float | None = None


def _set_line(text):
    line = text if re.match(r"(set|create|delete|unset) ", text) else f"set {text}"
    return lambda site: site.server_lines.append(line)


def _config_line(text):
    key, value = (part.strip() for part in text.split(":", 1))

    def change(site):
        old = site.sched_files["sched_config"]
        kept = "\n".join(line for line in old.splitlines() if not re.match(rf"\s*{re.escape(key)}\s*:", line))
        site.sched_files["sched_config"] = f"{kept}\n{key}: {value}\n"
    return change


def change_of(text):
    """A function that changes a site as this text of --vary says."""
    text = text.strip()
    if re.match(rf"(set |create |unset |delete )?{OBJECTS}", text):
        return _set_line(text)
    if re.match(r"[a-z_]+\s*:\s*\S", text):
        return _config_line(text)
    raise BadInput(f"--vary '{text}': write a line of qmgr (sched default preempt_order = R) or of sched_config "
                   "(strict_ordering: True)")


def parse_vary(text):
    """"NAME: CHANGE; CHANGE" or "CHANGE; CHANGE": the Variant."""
    name, changes, urgent = None, [], None
    found = re.match(r"\s*\[([^\]]{1,40})\]\s*", text)
    if found:
        name, text = found[1], text[found.end():]
    for part in filter(str.strip, text.split(";")):
        part = part.strip()
        more = re.fullmatch(r"add-nodes\s+(\d{1,6})", part)
        share = re.fullmatch(r"urgent\s+(\S+)", part)
        if more:
            changes.append(lambda site, n=int(more[1]): site.add_nodes(n))
        elif share:
            urgent = parse_share(share[1])
        elif part.startswith("sched-config "):
            changes.append(sched_config(part.split(None, 1)[1]))
        elif part != "nothing":
            changes.append(change_of(part))
    return Variant(name or text.strip() or "as it is", changes, urgent)


def sched_config(path):
    text = "\n".join(line for _, line in read_lines(path)) + "\n"

    def change(site):
        site.sched_files["sched_config"] = text
        site.named["sched_config"] = path
    return change


def parse_share(text):
    found = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)(%?)", text)
    value = float(found[1]) / (100 if found[2] else 1) if found else 2
    if not 0 <= value <= 1:
        raise BadInput(f"--urgent {text}: a share is 0% to 100%")
    return value


def make_urgent(jobs, share, seed, site):
    """The same jobs, this share of them in an express queue."""
    if share is None:
        return jobs
    express = sorted(site.express_queues())
    queue = express[0] if express else URGENT_QUEUE
    if not express:
        site.add_queue(queue, URGENT_PRIORITY)
    rng = random.Random(f"urgent.{seed}")
    return [dataclasses.replace(j, queue=queue) if rng.random() < share else j for j in jobs]
