"""The jobs of a workload as the simulator submits them (sim/sim_feed.h), fitted to the cluster."""
import dataclasses
import re

from .workload import BadInput

HARMLESS = re.compile(r"[^\w.+:=/,^!@-]")
NAME = re.compile(r"[^A-Za-z0-9_.-]")
FIXED = re.compile(r":(?:host|vnode)=[^:+]+")


class Fit:
    """What a cluster can hold. `queues`: those that the site has."""

    def __init__(self, site):
        self.site = site
        self.widest = max(site.widest(), 1)
        self.cpus = site.cpus()
        self.names = {name for name, _ in site.vnodes}
        self.queues = site.queues() | {site.default_queue()}

    def select(self, job):
        """Chunks for a job that says only how many cpus it wants: whole vnodes, then the rest."""
        if job.select:
            return self._known(job.select)
        whole, rest = divmod(job.cpus, self.widest)
        mem = job.mem_kb / job.cpus if job.mem_kb else 0

        def chunk(n, cpus):
            return f"{n}:ncpus={cpus}" + (f":mem={int(mem * cpus)}kb" if mem else "")
        return "+".join(([chunk(whole, self.widest)] if whole else []) + ([chunk(1, rest)] if rest else []))

    def _known(self, select):
        """Vnodes by name are asked for only where they exist."""
        return FIXED.sub(lambda m: m[0] if m[0].split("=")[1] in self.names else "", select)


def feed_text(workload, site, lengths=None):
    """(text, notes): a line for each job."""
    fit, lines, cut = Fit(site), [], 0
    for number, job in enumerate(workload.jobs, 1):
        run = job.run_s if lengths is None else lengths[number - 1]
        if job.walltime_s and run > job.walltime_s:   # a host would end it
            run, cut = job.walltime_s, cut + 1
        fields = [round(job.submit_s * 1000), job.after, round(job.think_s * 1000), round(run * 1000), job.status,
                  f"Job_Name=w{number}", f"User_List={NAME.sub('_', job.user)[:32]}",
                  f"Resource_List.select={HARMLESS.sub('', fit.select(job))}"]
        if job.walltime_s:
            fields.append(f"Resource_List.walltime={int(job.walltime_s)}")
        for name, value in (("Resource_List.place", job.place), ("group_list", job.group), ("project", job.project),
                            ("Account_Name", job.account)):
            if value:
                fields.append(f"{name}={HARMLESS.sub('_', value)[:64]}")
        if job.queue:
            fields.append(f"queue={NAME.sub('_', job.queue)}")
        lines.append("\t".join(map(str, fields)))
    return "\n".join(lines) + "\n", [f"{cut} jobs ran longer than their walltime, and are ended at it"] if cut else []


def add_queues(workload, site):
    """Queues that the workload names and the site lacks; those called as urgent ones have an urgent priority. Their names."""
    missing = sorted({NAME.sub("_", j.queue) for j in workload.jobs if j.queue} - site.queues() - {site.default_queue()})
    for name in missing:
        site.add_queue(name, 200 if name.lower() in ("express", "urgent") else None)
    return missing


def chunks(select):
    """(count, cpus) of each part of a select."""
    for part in select.split("+"):
        words = part.split(":")
        count = int(words[0]) if words[0].isdigit() else 1
        cpus = next((w[6:] for w in words if w.startswith("ncpus=")), "1")
        yield count, int(cpus) if cpus.isdigit() else 1


def fitting(workload, site):
    """(jobs, notes): without those that this cluster can never run, which would wait for ever. Followers of such a job follow the
    one before it."""
    fit, out, place, large = Fit(site), [], {0: 0}, []
    for number, job in enumerate(workload.jobs, 1):
        after = place[job.after]
        parts = list(chunks(fit.select(job)))
        if sum(n * c for n, c in parts) > fit.cpus or max(c for _, c in parts) > fit.widest:
            place[number] = after
            large.append(job.origin or str(number))
            continue
        job = dataclasses.replace(job, after=after)
        out.append(job)
        place[number] = len(out)
    if not out:
        raise BadInput(f"no job of the workload fits this cluster of {fit.cpus} cpus, {fit.widest} on the largest vnode")
    names = ", ".join(large[:5]) + (", ..." if len(large) > 5 else "")
    return out, [f"{len(large)} jobs are larger than the cluster and left out: {names}"] if large else []
