"""Users, operators and accidents at random, against a small model of what must come of it.

Longer, and with other seeds: make pytest T="test_model.py --model-steps 400 --model-seeds 10-29".
"""
import os
import random
import time

import pytest

from harness import api, users
from harness.model import AFTER, OVER, OVER_SUBJOB, PERM, ROUTE, STATE, UNKNOWN, Job, Model
from harness.wait import until

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="needs jobs of several users"),
              pytest.mark.complex(nodes=2, ncpus=64, history=True, sched=False)]

QUEUES, PROJECTS, NODES = ("a", "b"), ("p1", "p2"), ("n1", "n2")
ENTITIES = [("o", "PBS_ALL"), ("u", "PBS_GENERIC"), ("u", users.NAMES[0]), ("g", "PBS_GENERIC"),
            ("g", users.NAMES[1]), ("p", "PBS_GENERIC"), ("p", PROJECTS[0])]
LIMITS = ("max_queued", "max_queued_res.ncpus", "queued_jobs_threshold")
MOST_LIVE, MOST_PLACED, DAY_S = 25, 6, 86400
# Ends with the status that it finds in a file.
SCRIPT = 'cd "$PBS_O_WORKDIR"\nuntil [ -e "end.$PBS_JOBID" ]; do sleep 0.05; done\nexit $(cat "end.$PBS_JOBID")\n'


class Player:
    """Draws requests, knows by the model what must come of them, and makes them."""

    def __init__(self, cx, seed):
        self.cx, self.draw, self.model, self.told = cx, random.Random(seed), Model(), []
        self.script, self.by = cx.script(SCRIPT), {}
        self.connect()

    def connect(self):
        """Connections by user; None is an operator."""
        self.by = {None: self.cx.again()}
        for name in users.NAMES:
            with users.acting_as(name):
                self.by[name] = self.cx.connect()

    def close(self):
        for name in users.NAMES:
            self.by[name].close()

    # --- asking
    def ask(self, user, code, call, *args):
        """A request of this user, which is answered with this code (None: well). Its answer."""
        self.told.append(f"{user or 'operator'}: {call} {args} -> {code or 'well'}")
        try:
            answer = getattr(self.by[user], call)(*args)
        except api.PbsError as e:
            assert e.code == code, f"{self.told[-1]}, but {e}"
            return None
        assert code is None, f"{self.told[-1]}, but it was done"
        return answer

    def one(self, fits):
        """A job of the model, or None."""
        found = [j for j in self.model.all() if fits(j)]
        return self.draw.choice(found) if found else None

    def waiting(self):
        """One that waits and may be altered, moved or held as a whole."""
        return self.one(lambda j: j.live and not j.array and not j.placed)

    def asker(self, j):
        """Who asks something of this live job, and what he is told."""
        if self.draw.random() < 0.1:
            return self.draw.choice([u for u in users.NAMES if u != j.user]), PERM
        return self.draw.choice([j.user, j.user, None]), None

    # --- what users do
    def ties(self):
        """Some dependencies on jobs, of which few are over: [(kind, job)]."""
        targets = [t for t in self.model.jobs.values() if t.live or self.draw.random() < 0.2]
        chosen = self.draw.sample(targets, min(len(targets), self.draw.randint(1, 3)))
        return [(self.draw.choice(AFTER), t) for t in chosen]

    def new_job(self):
        d = self.draw
        indices = range(d.randint(0, 2), d.randint(6, 9), d.randint(1, 3)) if d.random() < 0.25 else ()
        job = Job(None, d.choice(users.NAMES), d.choice((*QUEUES, *QUEUES, ROUTE)), d.choice(PROJECTS), d.randint(1, 4),
                  indices)
        job.hold, job.later, job.on = d.random() < 0.1, d.random() < 0.07, d.choice((0, 0, 0, 0, 0, 1, 2))
        return job

    def submit(self):
        d, m = self.draw, self.model
        if sum(j.count() for j in m.live()) > MOST_LIVE:
            return self.delete()
        job = self.new_job()
        ties = self.ties() if d.random() < 0.4 else []
        befores = [t for t in m.jobs.values() if t.on and t.user == job.user and d.random() < 0.5]
        befores = [(d.choice(AFTER), t) for t in befores[:1]]
        code = m.refuses(job, ties, befores)
        job.after = [t for t in ties if m.met(*t) is None]
        code = m.admit(job, (job.queue, None)) or code
        job.name = self.ask(job.user, code, "submit", self.attributes(job, ties, befores), self.script, job.queue)
        if job.name:
            m.jobs[job.name] = job
            self.told.append(f"    it is {job.name}")
            for kind, t in befores:
                t.on -= 1
                t.after.append((kind, job))

    def attributes(self, job, ties, befores):
        names = [f"{k}:{t.name}" for k, t in ties] + [f"{k.replace('after', 'before')}:{t.name}" for k, t in befores]
        names += [f"on:{job.on}"] if job.on else []
        i = job.indices
        optional = [("Hold_Types", job.hold and "u"), ("depend", ",".join(names)),
                    ("Execution_Time", job.later and str(int(time.time()) + DAY_S)),
                    ("array_indices_submitted", i and f"{i[0]}-{i[-1]}:{i[1] - i[0]}")]
        return [("Resource_List", "select", f"1:ncpus={job.ncpus}"), ("project", None, job.project),
                ("Output_Path", None, "/dev/null"), ("Error_Path", None, "/dev/null"),
                ("Variable_List", None, f"PBS_O_WORKDIR={self.cx.work}"), *((n, None, v) for n, v in optional if v)]

    def delete(self):
        j = self.one(lambda j: j.live or self.draw.random() < 0.02)
        if not j:
            return
        user, code = self.asker(j) if j.live else (j.user, OVER_SUBJOB if j.array and j.array.live else OVER)
        self.ask(user, code, "delete", j.name, *(["force"] if not user and self.draw.random() < 0.3 else []))
        if code is None:
            self.model.delete(j)

    def delete_some(self):
        """A range of an array."""
        a = self.one(lambda j: j.indices and j.live)
        if a:
            first, step = self.draw.randint(0, 6), self.draw.randint(1, 3)
            some = range(first, first + self.draw.randint(1, 6), step)
            left = [i for i in some if i in a.waiting or i in a.subs and a.subs[i].live]
            code = None if left else OVER_SUBJOB if set(some) & set(a.indices) else UNKNOWN
            which = f"[{first}-{some[-1]}:{step}]" if len(some) > 1 else f"[{first}]"
            self.ask(a.user, code, "delete", a.name.replace("[]", which))
            self.model.delete_indices(a, left)

    def hold(self):
        j = self.waiting()
        if j:
            user, code = self.asker(j)
            self.ask(user, code, "release" if j.hold else "hold", j.name)
            j.hold = j.hold if code else not j.hold

    def alter(self):
        j = self.waiting()
        if j:
            how = self.draw.choice((self.alter_amount, self.alter_project, self.alter_time, self.alter_depend))
            how(j, *self.asker(j))
            self.model.follow(j)

    def alter_amount(self, j, user, code):
        was, j.ncpus = j.ncpus, self.draw.randint(1, 4)
        if code is None and user and j.ncpus > was:
            code = self.model.altered(j, (j.queue, None), (), self.model.entities(j), False)
        self.ask(user, code, "alter", j.name, [("Resource_List", "select", f"1:ncpus={j.ncpus}")])
        j.ncpus = was if code else j.ncpus

    def alter_project(self, j, user, code):
        was, j.project = j.project, self.draw.choice(PROJECTS)
        if code is None and user and j.project != was:
            code = self.model.altered(j, (j.queue, None), [("p", j.project)], [("p", j.project)], j.letter() in "QB")
        self.ask(user, code, "alter", j.name, [("project", None, j.project)])
        j.project = was if code else j.project

    def alter_time(self, j, user, code):
        later = self.draw.random() < 0.3
        when = str(int(time.time()) + DAY_S) if later else "0"
        self.ask(user, code, "alter", j.name, [("Execution_Time", None, when)])
        j.later = j.later if code else later

    def alter_depend(self, j, user, code):
        ties = self.ties()
        code = code or self.model.refuses(j, ties)
        self.ask(user, code, "alter", j.name, [("depend", None, ",".join(f"{k}:{t.name}" for k, t in ties))])
        if code is None:
            j.after, j.on = [t for t in ties if self.model.met(*t) is None], 0

    def move(self):
        j = self.waiting()
        if not j:
            return
        user, code = self.asker(j)
        was, to = j.queue, self.draw.choice(QUEUES)
        code = code or (STATE if any(s.placed for s in j.subs.values()) else None)
        j.queue = to
        if code is None and user:
            code = self.model.admit(j, (to,))
        self.ask(user, code, "move", j.name, to)
        j.queue = was if code else to
        self.model.follow(j)

    # --- what operators do, and jobs by themselves
    def run(self):
        m = self.model
        ready = [j for j in m.live() if j.queue != ROUTE and j.letter() in "QB"]
        free = [(j, None) for j in ready if not j.indices and (not j.array or j.array in ready)]
        free += [(a, i) for a in ready for i in sorted(a.waiting)]
        if not free or sum(j.placed for j in m.all()) >= MOST_PLACED:
            return self.end()
        j, index = self.draw.choice(free)
        j = j if index is None else m.appear(j, index)
        self.ask(None, None, "run_async", j.name, f"({self.draw.choice(NODES)}:ncpus={j.ncpus})")
        until(lambda: self.cx.stat(j.name)["substate"] == "42", lambda: f"{j.name} to run: {self.cx.stat(j.name)}")
        m.run(j)

    def end(self):
        j = self.one(lambda j: j.state == "R")
        if j:
            ok = self.draw.random() < 0.6
            self.told.append(f"end of {j.name}, {'well' if ok else 'badly'}")
            path = os.path.join(self.cx.work, "end." + j.name)
            with open(path + "-", "w", encoding="ascii") as f:
                f.write("0" if ok else "3")
            os.rename(path + "-", path)
            self.model.end(j, ok)
            self.model.review()

    def rerun(self):
        j = self.one(lambda j: j.placed)
        if j:
            self.ask(None, None, "rerun", j.name)
            j.state, j.started = "Q", False  # who asks from now on waits for the next start
            if j.array:
                j.queue, j.project, j.ncpus = j.array.queue, j.project, j.ncpus

    def suspend(self):
        j = self.one(lambda j: j.placed)
        if j:
            self.ask(None, None, "signal", j.name, "resume" if j.state == "S" else "suspend")
            j.state = "R" if j.state == "S" else "S"

    def limit(self):
        d = self.draw
        scope, attr = d.choice((*QUEUES, None)), d.choice(LIMITS)
        limits = {e: d.randint(2, 30) for e in d.sample(ENTITIES, d.randint(0, 3))}
        self.model.limits[scope, attr] = limits
        name, _, resource = attr.partition(".")
        text = ",".join(f"[{k}:{n}={v}]" for (k, n), v in limits.items())
        self.ask(None, None, "manager", api.MSET if text else api.MUNSET, api.QUEUE if scope else api.SERVER,
                 scope or "", [(name, resource or None, text)])

    def route(self):
        """The route queue is started for a moment: who may go anywhere goes, in the order of submission."""
        for j in [j for j in self.model.jobs.values() if j.queue == ROUTE and j.letter() == "Q"]:
            j.queue, found = ROUTE, [q for q in QUEUES if self.fits(j, q)]
            j.queue = found[0] if found else ROUTE
        self.ask(None, None, "manager", api.MSET, api.QUEUE, ROUTE, [("started", None, "True")])
        until(lambda: not self.strays(), lambda: f"jobs to be where they belong: {self.strays()}")
        self.ask(None, None, "manager", api.MSET, api.QUEUE, ROUTE, [("started", None, "False")])

    def fits(self, j, queue):
        j.queue = queue
        return self.model.admit(j, (queue,)) is None

    def strays(self):
        """{job: (queue by the model, queue)}"""
        queues = {s.name: s["queue"] for s in self.by[None].stat("job", "")}
        return {n: (self.model.jobs[n].queue, q) for n, q in queues.items() if q != self.model.jobs[n].queue}

    def accident(self):
        daemon, kill = self.draw.choice(["server", "server", *NODES]), self.draw.random() < 0.7
        self.told.append(f"{'kill' if kill else 'restart'} {daemon}")
        if kill and daemon == "server":
            self.cx.crash_server()
        else:
            if kill:
                self.cx.kill(daemon)
            self.cx.restart(daemon)
        if daemon == "server":
            self.close()
            self.connect()
        until(lambda: not any("down" in n.state for n in self.by[None].stat("vnode")), "all vnodes to be up")

    ACTIONS = {submit: 30, delete: 6, delete_some: 4, hold: 10, alter: 14, move: 8, run: 24, end: 12, rerun: 5,
               suspend: 5, route: 5, limit: 4, accident: 1}

    # --- comparing
    def expected(self):
        jobs = {j.name: j.letter() for j in self.model.all()}
        for a in self.model.jobs.values():
            for i in a.indices:
                jobs.setdefault(a.name.replace("[]", f"[{i}]"), "Q" if i in a.waiting else "X")
        return jobs

    def differs(self):
        want, have = self.expected(), {s.name: s.state for s in self.by[None].stat("job", "", extend="xt")}
        return {n: (want.get(n), have.get(n)) for n in want.keys() | have.keys() if want.get(n) != have.get(n)}

    def check(self):
        until(lambda: not self.differs(), lambda: f"the server to be as the model; not so {self.differs()}")
        cpus = sum(j.ncpus for j in self.model.all() if j.state == "R")
        until(lambda: self.assigned() == [cpus] * 2, lambda: f"{cpus} cpus in use; {self.assigned()}")
        for queue in (*QUEUES, ROUTE, None):
            self.check_counts(queue)
        for s in self.by[None].stat("job", ""):
            j = self.model.jobs[s.name]
            ties = [t.split(":") for t in s.get("depend", "").split(",") if t.startswith("after")]
            have = {(kind, name.split("@")[0]) for kind, *names in ties for name in names}
            assert have == {(k, t.name) for k, t in j.after}, (s.name, s.get("depend"))
            assert (s["project"], s["queue"], s["schedselect"]) == (j.project, j.queue, f"1:ncpus={j.ncpus}")

    def assigned(self):
        """By the server, and by its vnodes."""
        objects = self.by[None].stat("server"), self.by[None].stat("vnode")
        return [sum(int(o.get("resources_assigned", {}).get("ncpus", 0)) for o in found) for found in objects]

    def check_counts(self, queue):
        s = (self.by[None].stat("que", queue) if queue else self.by[None].stat("server"))[0]
        jobs = [j for j in self.model.live() if queue in (None, j.queue)]
        have = {k: int(n) for k, n in (w.split(":") for w in s["state_count"].split())}
        want = {k: sum(j.letter() in v for j in jobs)
                for k, v in {"Queued": "Q", "Held": "H", "Waiting": "W", "Running": "RS", "Begun": "B"}.items()}
        assert {k: have[k] for k in want} == want and int(s["total_jobs"]) == len(jobs), queue


def test_any_requests_in_any_order_do_what_the_manual_says(cx, model_seed, model_steps):
    for queue in QUEUES:
        cx.make_queue(queue)
    cx.make_queue(ROUTE, queue_type="Route", route_destinations=",".join(QUEUES), started="False")
    player = Player(cx, model_seed)
    actions, weights = zip(*player.ACTIONS.items())
    try:
        for _ in range(model_steps):
            player.draw.choices(actions, weights)[0](player)
            player.check()
    except BaseException:
        print("\n".join(player.told))
        raise
    finally:
        player.close()
