"""Hooks of many hosts on their way: a job never arrives before the hooks that were set before it."""
import os
import socket
import struct

from harness import api, exec_peer, rpc_caller
from harness.exec_peer import text, u32

HOSTS = 300  # beyond 100 hosts the rest are told in the background
IFL_MANAGER, IFL_RUN_ASYNC = 9, 23
SET, HOOK = 2, 8  # of IFL_MANAGER


def record(proc, args):
    body = struct.pack(">10I", proc, 0, 2, rpc_caller.IFL, 1, proc, 0, 0, 0, 0) + args
    return u32(rpc_caller.LAST | len(body)) + body


def test_a_job_that_is_sent_after_a_change_of_hooks_never_comes_before_it(place):
    names = [f"s{i}" for i in range(HOSTS)]
    for name in names:
        place.api.manager(api.CREATE, api.NODE, name)
    path = os.path.join(place.work, "h.py")
    with open(path, "w", encoding="ascii") as f:
        f.write("import pbs\n")
    place.qmgr("create hook h event=execjob_begin", f"import hook h application/x-python default {path}")
    peers = {name: exec_peer.Peer(place, name) for name in names}
    try:
        for peer in peers.values():
            peer.hello(capabilities=exec_peer.CAN_RELEASE | exec_peer.CAN_HOOKS)
            peer.order(exec_peer.HOOKS)
        late = peers[names[-1]]
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(rpc_caller.LIMIT_S)
            client.connect(os.path.join(place.home, "pbs_server.sock"))
            for i in range(3):
                job = place.submit()
                client.sendall(record(IFL_MANAGER, u32(SET) + u32(HOOK) + text("h") + u32(1) + text("order") + text("") + text(str(i + 2)) +
                                      u32(0) + text("") + u32(0)) +
                               record(IFL_RUN_ASYNC, text(job) + text(late.node) + text("") + u32(0)))
                assert rpc_caller.receive(client)[24:28] == u32(0) and rpc_caller.receive(client)[24:28] == u32(0)
                late.order(exec_peer.START)
                assert exec_peer.HOOKS in [o.proc for o in late.orders], "START came before HOOKS"
                late.orders.clear()
                place.api.delete(job, "force")
    finally:
        for peer in peers.values():
            peer.close()


def test_a_host_that_does_not_answer_is_told_of_hooks_again(place):
    place.api.manager(api.CREATE, api.NODE, "silent")
    place.set_server("sync_mom_hookfiles_timeout", "1")
    path = os.path.join(place.work, "again.py")
    with open(path, "w", encoding="ascii") as f:
        f.write("import pbs\n")
    peer = exec_peer.Peer(place, "silent")
    peer.silent.add(exec_peer.HOOKS)
    try:
        peer.hello(capabilities=exec_peer.CAN_RELEASE | exec_peer.CAN_HOOKS)
        place.qmgr("create hook again event=execjob_begin", f"import hook again application/x-python default {path}")
        for _ in ("created", "imported", "again"):
            peer.order(exec_peer.HOOKS)
        place.wait_log("server", "Timing out previous send of mom hook updates (send replies expected=")
    finally:
        peer.close()
        place.qmgr("delete hook again", "unset server sync_mom_hookfiles_timeout")
