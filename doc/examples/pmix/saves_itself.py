"""A program that saves itself when its job is to give way, and says so, with nothing but ctypes: doc/pmix.md.

   qsub -l select=1:ncpus=1 -- /opt/pbs/bin/pbs_launch python3 $PWD/saves_itself.py 1000000

It counts. Its state is one number, in PBS_CHECKPOINT_DIR; the next run continues from there.
"""
import ctypes
import os
import sys
import threading
import time

BOOL, STRING, UINT32 = 1, 3, 14  # types of values, in pmix_common.h
CHECKPOINT, CHECKPOINT_COMPLETE, PREEMPT_ALERT = -106, -107, -108
RANGE_RM = 1


class Proc(ctypes.Structure):
    _fields_ = [("nspace", ctypes.c_char * 256), ("rank", ctypes.c_uint32)]


class Data(ctypes.Union):
    _fields_ = [("flag", ctypes.c_bool), ("string", ctypes.c_char_p), ("uint32", ctypes.c_uint32), ("room", ctypes.c_char * 24)]


class Value(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint16), ("data", Data)]


class Info(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char * 512), ("flags", ctypes.c_uint32), ("value", Value)]


DONE = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
EVENT = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_int, ctypes.POINTER(Proc), ctypes.POINTER(Info), ctypes.c_size_t,
                         ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)


def library():
    for name in ("libpmix.so.2", "/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so.2"):  # Debian keeps it in a directory of its own
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    sys.exit("there is no libpmix")


PMIX = library()


def infos(*rows):
    """(key, value) as an array of pmix_info_t."""
    array = (Info * len(rows))()
    for info, (key, value) in zip(array, rows):
        info.key = key
        if isinstance(value, bool):
            info.value.type, info.value.data.flag = BOOL, value
        elif isinstance(value, int):
            info.value.type, info.value.data.uint32 = UINT32, value
        else:
            info.value.type, info.value.data.string = STRING, value
    return array


class Conversation:
    """`wanted` is set when the state is to be saved; report() says that it is."""

    def __init__(self):
        self.me, self.wanted, self.alert = Proc(), threading.Event(), b""
        if PMIX.PMIx_Init(ctypes.byref(self.me), None, ctypes.c_size_t(0)) != 0:
            sys.exit("this is not a PMIx client")
        self.handler = EVENT(self.on_event)  # kept: the library calls it
        codes = (ctypes.c_int * 2)(PREEMPT_ALERT, CHECKPOINT)
        PMIX.PMIx_Register_event_handler(codes, ctypes.c_size_t(2), None, ctypes.c_size_t(0), self.handler, None, None)
        # I can be preempted; an event makes me save myself, which takes five seconds at most.
        declaration = infos((b"pmix.jctrl.preempt", True), (b"pmix.jctrl.ckptev", True), (b"pbs.preempt.need_s", 5))
        results, n = ctypes.c_void_p(), ctypes.c_size_t()
        PMIX.PMIx_Job_control(None, ctypes.c_size_t(0), declaration, ctypes.c_size_t(3), ctypes.byref(results), ctypes.byref(n))

    def on_event(self, _handler, _status, _source, info, n, _results, _n_results, done, arg):
        """Called by a thread of the library: only remember."""
        said = {info[i].key: info[i].value.data.string for i in range(n) if info[i].value.type == STRING}
        self.alert = said.get(b"pmix.jctrl.id", self.alert)
        if said.get(b"pbs.preempt.method") != b"none":  # else it is withdrawn
            self.wanted.set()
        if done:
            DONE(done)(-334, None, 0, None, None, arg)  # PMIX_EVENT_ACTION_COMPLETE

    def report(self):
        report = infos((b"pmix.jctrl.id", self.alert), (b"pmix.evnondef", True))
        PMIX.PMIx_Notify_event(CHECKPOINT_COMPLETE, ctypes.byref(self.me), ctypes.c_ubyte(RANGE_RM), report, ctypes.c_size_t(2),
                               None, None)


STATE = os.path.join(os.environ.get("PBS_CHECKPOINT_DIR", "."), "count")


def load():
    try:
        with open(STATE, encoding="ascii") as f:
            return int(f.read())
    except FileNotFoundError:
        return 0


def save(count):
    """A new file, on the disk, then its name: there is always a whole one."""
    with open(STATE + ".new", "w", encoding="ascii") as f:
        f.write(str(count))
        f.flush()
        os.fsync(f.fileno())
    os.rename(STATE + ".new", STATE)


def main():
    talk = Conversation()
    count = load()
    while count < int(sys.argv[1]):
        time.sleep(0.01)  # the work
        count += 1
        if talk.wanted.is_set():
            talk.wanted.clear()
            save(count)
            talk.report()
    print("counted to", count)
    PMIX.PMIx_Finalize(None, ctypes.c_size_t(0))


main()
