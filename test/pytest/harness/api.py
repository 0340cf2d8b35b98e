"""libpbs for tests: every call a Python method, every error an exception with its number. Structures, signatures and lists are those of the
package `cede`; what tests call and programs do not (schedulers, tickets, the raw form of a watch) is here."""
import ctypes as C
import os
import sys
from typing import NamedTuple

# The package of the build whose libpbs is called.
sys.path.insert(0, os.path.join(os.path.dirname(os.environ["CEDE_LIBPBS"]), "python"))
from cede import _libpbs
from cede._libpbs import CHANGE, ENTRY, RESTART, BatchStatus, Cursor, JobEnd, News, Peek, Reader, Want

SET, UNSET, INCR, DECR, EQ, NE, GE, GT, LE, LT, DFLT = range(11)
CREATE, DELETE, MSET, MUNSET, LIST = range(5)
SERVER, QUEUE, JOB, NODE, RESV, RESOURCE, SCHED = range(7)


class PbsError(Exception):
    """A call that failed: its number, the server's text, and the attributes that were refused."""

    def __init__(self, code, text, attributes=()):
        super().__init__(f"{code}: {text}")
        self.code, self.text, self.attributes = code, text, list(attributes)


class Piece(NamedTuple):
    offset: int
    size: int
    data: bytes


class Victim(C.Structure):
    _fields_ = [("jobid", C.c_char_p), ("run_version", C.c_int), ("methods", C.c_char_p)]


def lib():
    return _libpbs.lib


def raw(text):
    return None if text is None else (text if isinstance(text, bytes) else str(text).encode())


def text_of(value):
    return None if value is None else _libpbs.to_text(value)


def attr_list(items):
    """A linked list from (name, value), (name, resource, value) or (name, resource, value, op)."""
    return _libpbs.attr_list((*item, SET)[:4] if len(item) > 2 else (item[0], None, item[1], SET) for item in items or ())


class Status(dict):
    """An object: its name, and its attributes as keys."""

    def __init__(self, name, attrs, text=None):
        super().__init__(attrs)
        self.name, self.text = name, text

    @property
    def state(self):
        return self.get("job_state") or self.get("state")

    @property
    def run_count(self):
        return int(self.get("run_count", 0))


class Connection:
    """One connection. Calls release Python's lock, so threads may wait in several at once."""

    def __init__(self, conf_file, server=None):
        os.environ["PBS_CONF_FILE"] = str(conf_file)
        # Its modules (TLS) must be of its own kind: those of a sanitized build cannot be loaded into Python.
        os.environ["PBS_EXEC"] = os.path.dirname(os.path.dirname(os.environ["CEDE_LIBPBS"]))
        lib().pbs_loadconf(1)
        self.c = lib().pbs_connect(raw(server))
        if self.c < 0:
            raise self._error(-1)

    def close(self):
        if self.c > 0:
            lib().pbs_disconnect(self.c)
            self.c = -1

    # --- errors
    @staticmethod
    def errno():
        return _libpbs.errno()

    def _error(self, c=None):
        c = self.c if c is None else c
        attributes = []
        errors = lib().pbs_get_attributes_in_error(c)
        if errors:
            for i in range(errors.contents.n):
                e = errors.contents.list[i]
                attributes.append((text_of(e.attribute.contents.name), text_of(e.attribute.contents.resource),
                                   e.code, text_of(e.text)))
        return PbsError(self.errno(), text_of(lib().pbs_geterrmsg(c)), attributes)

    def _simple(self, name, *args):
        if getattr(lib(), "pbs_" + name)(self.c, *args) != 0:
            raise self._error()

    def _ticket(self, name, *args):
        ticket = getattr(lib(), "pbs_" + name)(self.c, *args)
        if ticket < 0:
            raise self._error()
        return ticket

    def _take_text(self, pointer):
        if not pointer:
            raise self._error()
        return _libpbs.take_text(pointer)

    # --- jobs
    def submit(self, attrs=(), script=None, queue=None, extend=None):
        return self._take_text(lib().pbs_submit(self.c, attr_list(attrs), raw(script), raw(queue), raw(extend)))

    def submit_send(self, attrs=(), script=None, queue=None):
        return self._ticket("submit_send", attr_list(attrs), raw(script), raw(queue), None)

    def submit_recv(self, ticket):
        return self._take_text(lib().pbs_submit_recv(self.c, ticket))

    def delete(self, job, extend=None):
        self._simple("deljob", raw(job), raw(extend))

    def delete_list(self, jobs, extend=None):
        """The jobs that were not deleted, with the reason: {id: code}."""
        failed = _libpbs.delete_jobs(self.c, jobs, extend)
        if not failed and self.errno() != 0:
            raise self._error()
        return failed

    def hold(self, job, letters="u"):
        self._simple("holdjob", raw(job), raw(letters), None)

    def release(self, job, letters="u"):
        self._simple("rlsjob", raw(job), raw(letters), None)

    def rerun(self, job, extend=None):
        self._simple("rerunjob", raw(job), raw(extend))

    def signal(self, job, signal):
        self._simple("sigjob", raw(job), raw(signal), None)

    def peek(self, job, file, offset):
        """A piece of an output file (1 output, 2 error) of a running job."""
        piece = Peek()
        self._simple("peekjob", raw(job), C.c_int(file), C.c_longlong(offset), None, C.byref(piece))
        return Piece(piece.offset, piece.size, C.string_at(piece.data, piece.n))

    def alter(self, job, attrs):
        self._simple("alterjob", raw(job), attr_list(attrs), None)

    def run(self, job, location=None):
        self._simple("runjob", raw(job), raw(location), None)

    def run_async(self, job, location=None):
        self._simple("asyrunjob", raw(job), raw(location), None)

    def move(self, job, destination):
        self._simple("movejob", raw(job), raw(destination), None)

    def locate(self, job):
        return self._take_text(lib().pbs_locjob(self.c, raw(job), None))

    # --- questions
    def _status(self, head):
        if not head and self.errno() != 0:
            raise self._error()
        return [Status(name, attrs, text) for name, attrs, text in _libpbs.entries(head)]

    def stat(self, kind, name=None, want=(), extend=None):
        """kind: job que vnode host rsc resv hook hold (with a name), server sched (without)."""
        wanted = attr_list([(w, None, "") if isinstance(w, str) else (*w, "") for w in want])
        args = (wanted, raw(extend)) if kind in ("server", "sched") else (raw(name), wanted, raw(extend))
        return self._status(getattr(lib(), "pbs_stat" + kind)(self.c, *args))

    def select(self, criteria=(), extend=None):
        block = lib().pbs_selectjob(self.c, attr_list(criteria), raw(extend))
        if not block and self.errno() != 0:
            raise self._error()
        return _libpbs.take_names(block) if block else []

    def selstat(self, criteria=(), want=(), extend=None):
        wanted = attr_list([(w, None, "") for w in want])
        return self._status(lib().pbs_selstat(self.c, attr_list(criteria), wanted, raw(extend)))

    def each(self, fn, criteria=(), names=None):
        """fn(job) for each job as it comes in, until it returns true: by criteria, or by `names` as pbs_statjob."""
        entry = ENTRY(lambda e, _: bool(fn(Status(text_of(e.contents.name), _libpbs.attributes(e.contents.attribs)))))
        if names is None:
            self._simple("selstat_each", attr_list(criteria), None, None, entry, None)
        else:
            self._simple("statjob_each", raw(names), None, None, entry, None)

    # --- administration
    def manager(self, command, kind, name="", attrs=(), extend=None):
        self._simple("manager", command, kind, raw(name), attr_list(attrs), raw(extend))

    def terminate(self, manner=2):
        self._simple("terminate", manner, None)

    # --- schedulers
    def register(self, name="default"):
        if lib().pbs_register_sched(raw(name), self.c, -1) != 0:
            raise self._error()

    # --- reservations
    def submit_resv(self, attrs=(), extend=None):
        """The answer: identifier and word."""
        return self._take_text(lib().pbs_submit_resv(self.c, attr_list(attrs), raw(extend))).split(" ", 1)

    def modify_resv(self, resv, attrs, extend=None):
        return self._take_text(lib().pbs_modify_resv(self.c, raw(resv), attr_list(attrs), raw(extend))).split(" ", 1)

    def delete_resv(self, resv):
        self._simple("delresv", raw(resv), None)

    def confirm_resv(self, resv, location="", start=0, extend="PBS_RESV_CONFIRM_SUCCESS"):
        self._simple("confirmresv", raw(resv), raw(location), C.c_ulong(start), raw(extend))

    def preempt_send(self, jobs):
        return self._ticket("preempt_jobs_send", _libpbs.text_array(jobs))

    def preempt_recv(self, ticket):
        """[(job, order)] in order of completion."""
        done = _libpbs.preempted(self.c, ticket)
        if done is None:
            raise self._error()
        return done

    def preempt(self, jobs):
        return self.preempt_recv(self.preempt_send(jobs))

    def preempt_run(self, job, location, victims, extend=None):
        """victims: identifiers, or (identifier, run version, letters)."""
        rows = [(v, 0, None) if isinstance(v, str) else v for v in victims]
        array = (Victim * len(rows))(*[Victim(raw(i), n, raw(m)) for i, n, m in rows])
        self._simple("preempt_run", raw(job), raw(location), array, C.c_size_t(len(rows)), raw(extend))

    def counts(self, extend=None):
        """What the server has counted: a list of Status."""
        return self._status(lib().pbs_statcounts(self.c, raw(extend)))

    def sched_counts(self, jobs, us, took):
        self._simple("sched_counts", (C.c_uint64 * 15)(jobs, us, *took))

    def explain(self, job, extend=None):
        """The job, victims in their order, who is spared: a list of Status."""
        return self._status(lib().pbs_explain(self.c, raw(job), raw(extend)))

    def explain_reply(self, answer, job, found):
        """A scheduler's answer to a wake; found: (name, attributes) in order."""
        first = None
        for name, attrs in reversed(found):
            first = C.pointer(BatchStatus(first, raw(name), attr_list([(n, None, v) for n, v in attrs]), None))
        self._simple("explain_reply", C.c_uint(answer), raw(job), first)

    def sched_reply(self, answer, job, code, text=""):
        self._simple("sched_reply", C.c_uint(answer), raw(job), code, raw(text))

    def sched_alive(self):
        self._simple("sched_alive")

    def delete_hold(self, job):
        self._simple("delhold", raw(job), None)

    # --- tickets
    def call_send(self, name, *args):
        """The first half of a simple call by its name: call_send("runjob_send", job, location, None)."""
        return self._ticket(name, *[raw(a) for a in args])

    def ready(self, ticket):
        return lib().pbs_ready(self.c, ticket) == 1

    def recv(self, ticket):
        if lib().pbs_recv(self.c, ticket) != 0:
            raise self._error()

    def drop(self, ticket):
        if lib().pbs_drop(self.c, ticket) != 0:
            raise self._error()

    # --- the delta stream
    def watch(self, wants, extend=None):
        """wants: {kind number: [attribute names] or None for all}."""
        array = (Want * len(wants))()
        for i, (kind, names) in enumerate(wants.items()):
            array[i] = Want(kind, attr_list([(n, None, "") for n in names or ()]))
        watch = C.c_uint()
        if lib().pbs_watch(self.c, array, len(wants), raw(extend), C.byref(watch)) != 0:
            raise self._error()
        return Watch(self, watch.value)

    def watch_job(self, job):
        """This job and nothing else, with all its attributes."""
        return self.watch({JOB: None}, f"job={job}")

    def wait_job(self, job):
        """Its exit status when it is over; None: it never ran, or nobody knows."""
        end = JobEnd()
        if lib().pbs_waitjob(self.c, raw(job), None, C.byref(end)) != 0:
            if self.errno() == 15001:
                return None
            raise self._error()
        return end.exit_status if end.exited else None


class Watch:
    """A mirror of what is watched: {(kind, name): attributes}."""

    def __init__(self, connection, number):
        self.connection, self.number = connection, number
        self.cursor = Cursor(0, 0)
        self.objects, self.changes, self.wakes = {}, 0, []
        self.caught_up = False
        self._reader = Reader(RESTART(self._restart), CHANGE(self._change), None)

    def _restart(self, _arg):
        self.objects.clear()

    def _change(self, pointer, _arg):
        ch = pointer.contents
        key = (ch.kind, text_of(ch.name))
        self.changes += 1
        if ch.gone:
            self.objects.pop(key, None)
        else:
            self.objects[key] = _libpbs.attributes(ch.attribs)

    def send(self):
        ticket = lib().pbs_watch_next_send(self.connection.c, self.number, self.cursor)
        if ticket < 0:
            raise self.connection._error()
        return ticket

    def recv(self, ticket):
        news = News()
        if lib().pbs_watch_next_recv(self.connection.c, ticket, C.byref(self._reader), C.byref(news)) != 0:
            raise self.connection._error()
        self.cursor, self.caught_up = Cursor(news.cursor.epoch, news.cursor.number), bool(news.caught_up)
        self.wakes += [(w.command, text_of(w.job), w.answer) for w in news.wakes[:news.n_wakes]]
        return news

    def next(self):
        return self.recv(self.send())

    def catch_up(self):
        """Ask until there is nothing more at this moment."""
        self.next()
        while not self.caught_up:
            self.next()
