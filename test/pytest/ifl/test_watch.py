"""The stream of changes: a mirror fed by it equals a fresh read, after every step, whatever the steps were."""
import random

import pytest

from harness import api, users

KINDS = {0: "server", 1: "que", 2: "job", 3: "vnode", 5: "rsc", 6: "sched"}
COUNTS = ("state_count", "total_jobs")  # of jobs that are in the mirror anyway: no change of their own
WORK = [("Output_Path", "/tmp/o"), ("Error_Path", "/tmp/e")]


def refused(code, call, *args):
    with pytest.raises(api.PbsError) as e:
        call(*args)
    assert e.value.code == code, e.value


def without_counts(attributes):
    return {k: v for k, v in attributes.items() if k not in COUNTS}


def fresh(connection, want):
    """What a mirror of these kinds and attributes should hold, read by status calls."""
    out = {}
    for kind, names in want.items():
        for o in connection.stat(KINDS[kind], want=names or (), extend="p"):
            out[(kind, o.name)] = without_counts(o)
    return out


class Mirror:
    def __init__(self, cx, want, user=None):
        if user:
            with users.acting_as(user):
                self.connection = cx.connect()
        else:
            self.connection = cx.connect()
        self.want = want
        self.watch = self.connection.watch({0: ["comment"], **want} if 0 not in want else want)

    def read_until(self, mark):
        """Until the mirror knows this mark, which was set last, and is caught up."""
        while (not self.watch.caught_up or
               not any(k == 0 and o.get("comment") == mark for (k, _), o in self.watch.objects.items())):
            self.watch.next()

    def check(self):
        objects = {k: without_counts(v) for k, v in self.watch.objects.items() if k[0] in self.want}
        assert objects == fresh(self.connection, self.want)


class World:
    """Changes of every kind, chosen by a seed; the only state is what the server says."""

    def __init__(self, cx, seed):
        self.cx, self.rng, self.n = cx, random.Random(seed), seed * 1000

    def name(self, letter):
        self.n += 1
        return f"{letter}{self.n}"

    def some(self, kind):
        names = [o.name for o in self.cx.api.stat(kind) if o.name not in ("default", "workq")]
        if kind == "rsc":
            names = [n for n in names if n.startswith("r") and n[1:].isdigit()]
        return self.rng.choice(names) if names else None

    def submit(self):
        self.cx.api.submit([*WORK, ("Priority", self.rng.randint(-9, 9)),
                            ("Resource_List", "ncpus", self.rng.randint(1, 4))], self.cx.script("true"),
                           self.some("que") if self.rng.random() < 0.3 else "workq")

    def alter(self, job):
        self.cx.api.alter(job, [self.rng.choice([("Priority", self.rng.randint(-9, 9)), ("Job_Name", self.name("j")),
                                                 ("Account_Name", self.rng.choice(["", "a", "b"])),
                                                 ("Resource_List", "mem", f"{self.rng.randint(1, 9)}mb"),
                                                 ("Execution_Time", self.rng.choice(["", "4000000000"]))])])

    def step(self):
        a, rng = self.cx.api, self.rng
        job, queue, node, resc = (self.some(k) for k in ("job", "que", "vnode", "rsc"))
        steps = [self.submit, self.submit,
                 lambda: a.manager(api.CREATE, api.QUEUE, self.name("q"),
                                   [("queue_type", "e"), ("enabled", "t"), ("started", "t")]),
                 lambda: a.manager(api.CREATE, api.NODE, self.name("n")),
                 lambda: a.manager(api.CREATE, api.RESOURCE, self.name("r"), [("type", "long")]),
                 lambda: a.manager(api.MSET, api.SCHED, "default", [("preempt_queue_prio", rng.randint(1, 999))]),
                 lambda: a.manager(api.MSET, api.SERVER, "", [("max_array_size", rng.randint(1, 999))])]
        if job:
            steps += [lambda: a.delete(job), lambda: a.hold(job, rng.choice("uos")), lambda: a.release(job, "uos"),
                      lambda: self.alter(job), lambda: a.move(job, queue or "workq"), lambda: self.alter(job)]
        if queue:
            steps += [lambda: a.manager(api.MSET, api.QUEUE, queue, [("Priority", rng.randint(0, 99))]),
                      lambda: a.manager(api.MUNSET, api.QUEUE, queue, [("Priority", "")]),
                      lambda: a.manager(api.MSET, api.QUEUE, queue, [("max_queued", "[u:PBS_GENERIC=99]")]),
                      lambda: a.manager(api.DELETE, api.QUEUE, queue)]
        if node:
            steps += [lambda: a.manager(api.MSET, api.NODE, node, [("state", rng.choice(["offline", "free"]))]),
                      lambda: a.manager(api.MSET, api.NODE, node, [("comment", self.name("c"))]),
                      lambda: a.manager(api.DELETE, api.NODE, node)]
        if resc:
            steps += [lambda: a.manager(api.MSET, api.RESOURCE, resc, [("flag", rng.choice(["", "q", "h", "nh"]))]),
                      lambda: a.manager(api.DELETE, api.RESOURCE, resc)]
        try:
            rng.choice(steps)()
        except api.PbsError as e:
            assert e.code in (15027, 15174, 15016), e  # busy: a queue with jobs, a resource in use

    def mark(self):
        """A change that everybody sees; nothing was changed after it."""
        mark = self.name("mark")
        self.cx.set_server("comment", mark)
        return mark


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_mirror_equals_a_fresh_read_after_every_step(place, seed):
    place.clean()
    world = World(place, seed)
    mirrors = [Mirror(place, dict.fromkeys(KINDS)),
               Mirror(place, {2: ["Job_Name", "job_state", "Hold_Types"], 1: ["Priority"], 3: ["state"]})]
    if users.available():
        mirrors.append(Mirror(place, {2: None, 1: None}, user="pbstest1"))
    lazy = Mirror(place, dict.fromkeys(KINDS))
    for _ in range(60):
        world.step()
        mark = world.mark()
        for m in mirrors:
            m.read_until(mark)
            m.check()
    lazy.read_until(mark)
    lazy.check()
    for m in [*mirrors, lazy]:
        m.connection.close()


def test_a_mirror_follows_a_server_that_was_killed(place):
    place.clean()
    world = World(place, 77)
    want = dict.fromkeys(KINDS)
    for _ in range(20):
        world.step()
    before = Mirror(place, want)
    before.read_until(world.mark())
    cursor = before.watch.cursor
    place.kill("server")
    place.restart("server")
    place.again()
    for _ in range(5):
        world.step()
    after = Mirror(place, want)
    after.watch.cursor = cursor
    after.watch.objects = {(2, "0.nobody"): {}}
    after.read_until(world.mark())
    after.check()
    assert (2, "0.nobody") not in after.watch.objects, "a cursor of another epoch begins anew"
    after.connection.close()


def test_next_parks_until_something_changes(place):
    m = Mirror(place, {2: ["job_state"]})
    m.watch.catch_up()
    ticket = m.watch.send()
    assert not m.watch.connection.ready(ticket)
    job = place.submit()
    news = m.watch.recv(ticket)
    while (2, job) not in m.watch.objects:
        news = m.watch.next()
    assert news.now_ns > 0 and not news.restarted
    m.connection.close()


def test_objects_that_are_not_watched_are_not_sent(place):
    c = place.connect()
    watch = c.watch({6: ["preempt_order"]})
    watch.catch_up()
    before = watch.changes
    place.api.delete(place.submit())
    place.set_queue("workq", "Priority", "3")
    place.set_sched("preempt_order", "D")
    while watch.objects[(6, "default")] != {"preempt_order": "D"}:
        watch.next()
    assert watch.changes == before + 1
    place.api.manager(api.MUNSET, api.SCHED, "default", [("preempt_order", "")])
    c.close()


def test_an_object_that_came_and_went_between_two_answers_is_at_most_reported_gone(place):
    c = place.connect()
    watch = c.watch({2: ["job_state"]})
    watch.catch_up()
    for _ in range(50):
        place.api.delete(place.submit())
    last = place.submit()
    while (2, last) not in watch.objects:
        watch.next()
    assert set(watch.objects) == {(2, j.name) for j in place.api.stat("job")}
    c.close()


def test_a_bad_watch_is_refused(place):
    c = place.connect()
    refused(15002, c.watch, {2: ["colour"]})
    refused(15004, c.watch, {99: None})
    watch = c.watch({2: None})
    other = place.connect()
    stranger = api.Watch(other, watch.number)
    refused(15004, stranger.next)
    watch.catch_up()
    ticket = watch.send()
    refused(15004, watch.next)
    place.submit()
    watch.recv(ticket)
    c.close()
    other.close()


def test_one_connection_cannot_have_watches_without_end(place):
    c = place.connect()
    with pytest.raises(api.PbsError):
        for _ in range(1000):
            c.watch({2: None})
    assert c.stat("server")
    c.close()
