"""A small model of the jobs of a server: what each request does to them, by the rules of the manual alone.

Nothing here takes time: who plays requests against a server waits until that has come to the same. Codes are libpbs's.
"""
AFTER = ("after", "afterok", "afternotok", "afterany")
PERM, STATE, OVER, OVER_SUBJOB, UNKNOWN = 15007, 15016, 15139, 15159, 15001
COUNT, AMOUNT, DEPEND, PAST_DEPEND = 15142, 15143, 15054, 15229
ROUTE = "r"


class Job:
    """A job, an array, or a subjob with a life of its own."""

    def __init__(self, name, user, queue, project, ncpus, indices=(), array=None):
        self.name, self.user, self.queue, self.project, self.ncpus = name, user, queue, project, ncpus
        self.array = array  # of a subjob
        self.indices = tuple(indices)  # of an array
        self.waiting, self.subs = set(indices), {}  # indices that are not jobs yet; jobs by index, ended ones too
        self.state, self.started, self.ok, self.deleted = "Q", False, False, False
        self.hold, self.later = False, False  # by its user; until a start time
        self.after, self.on = [], 0  # [(kind, Job)]; how many may still come with "before"

    @property
    def live(self):
        return self.state != "F"

    @property
    def placed(self):
        return self.state in "RS"

    def letter(self):
        if self.state != "Q":
            return "X" if self.array and self.state == "F" else self.state
        if self.hold or self.after or self.on:
            return "H"
        if self.later:
            return "W"
        return "B" if self.indices and self.started else "Q"

    def count(self):
        """As how many it counts in limits."""
        return len(self.waiting) if self.indices else 1


class Model:
    """Jobs by name, in the order of submission; limits: {(queue or None, attribute): {(letter, name): most}}."""

    def __init__(self):
        self.jobs, self.limits = {}, {}

    def all(self):
        for j in self.jobs.values():
            yield j
            yield from j.subs.values()

    def live(self):
        return [j for j in self.all() if j.live]

    # --- limits
    @staticmethod
    def entities(j):
        return ("o", "PBS_ALL"), ("u", j.user), ("g", j.user), ("p", j.project)

    @staticmethod
    def weight(j, attr):
        return j.count() * (j.ncpus if attr.endswith("ncpus") else 1)

    def used(self, scope, attr, entity, but):
        return sum(self.weight(j, attr) for j in self.live() if j is not but and scope in (None, j.queue)
                   and entity in self.entities(j) and (attr != "queued_jobs_threshold" or j.letter() in "QB"))

    def over(self, scope, attr, j, entities):
        """Would one of these entities have too much with this job?"""
        limits = self.limits.get((scope, attr), {})
        for entity in entities:
            most = limits.get(entity, limits.get((entity[0], "PBS_GENERIC")))
            if most is not None and self.used(scope, attr, entity, j) + self.weight(j, attr) > most:
                return True
        return False

    def admit(self, j, scopes):
        """The code that a job which comes in is refused with, or None."""
        return self.altered(j, scopes, self.entities(j), self.entities(j), True)

    def altered(self, j, scopes, jobs, amounts, waits):
        """The same of a job that is new to the entities `jobs`, and has more of its resource for `amounts`."""
        for scope in scopes:
            if self.over(scope, "max_queued", j, jobs):
                return COUNT
            if self.over(scope, "max_queued_res.ncpus", j, amounts):
                return AMOUNT
            if waits and self.over(scope, "queued_jobs_threshold", j, jobs):
                return COUNT
        return None

    # --- dependencies
    @staticmethod
    def met(kind, target):
        """True, False, or None: later."""
        if kind == "after":
            return True if target.started else None if target.live else False
        if target.live:
            return None
        return kind == "afterany" or target.ok == (kind == "afterok")

    def waits_for(self, j, other):
        return any(t is other or self.waits_for(t, other) for _, t in j.after)

    def refuses(self, j, ties, befores=()):
        """The code for a job that is to wait for some and to be waited for by others, or None."""
        for kind, t in ties:
            if t is j:
                return DEPEND
            if self.met(kind, t) is False:
                return PAST_DEPEND
        for _, t in befores:
            if not t.live or t.user != j.user or t.placed or not t.on:
                return DEPEND
        for _, t in ties:
            if t.live and (self.waits_for(t, j) or any(t is b or self.waits_for(t, b) for _, b in befores)):
                return DEPEND
        return None

    def review(self):
        """Ties that are decided go; who cannot run any more is deleted, and so on."""
        again = True
        while again:
            again = False
            for j in [j for j in self.jobs.values() if j.after]:
                for tie in list(j.after):
                    met = self.met(*tie)
                    if met is not None and tie in j.after:
                        j.after.remove(tie)
                        again = True
                    if met is False and j.live and not j.placed:
                        self.end(j, False)

    # --- what happens
    def appear(self, array, index):
        """A subjob becomes a job of its own."""
        name = array.name.replace("[]", f"[{index}]")
        sub = Job(name, array.user, array.queue, array.project, array.ncpus, array=array)
        array.waiting.remove(index)
        array.subs[index] = sub
        return sub

    def follow(self, array):
        """Subjobs that wait are where their array is, and ask for what it asks."""
        for sub in array.subs.values():
            if sub.state == "Q":
                sub.queue, sub.project, sub.ncpus = array.queue, array.project, array.ncpus

    def run(self, j):
        j.state, j.started = "R", True
        if j.array:
            j.array.started = True
        self.review()

    def end(self, j, ok):
        """It is over."""
        for sub in j.subs.values():
            if sub.live:
                sub.state, sub.deleted = "F", True
        j.state, j.ok, j.waiting, j.after, j.on = "F", ok, set(), [], 0
        if j.array:
            self.end_array(j.array)

    def end_array(self, a):
        if a.live and not a.waiting and not any(s.live for s in a.subs.values()):
            self.end(a, a.started and all(s.ok or s.deleted for s in a.subs.values()))

    def delete(self, j):
        j.deleted = True
        self.end(j, False)
        self.review()

    def delete_indices(self, array, indices):
        for i in indices:
            array.waiting.discard(i)
            if i in array.subs:
                array.subs[i].state, array.subs[i].deleted = "F", True
        self.end_array(array)
        self.review()
