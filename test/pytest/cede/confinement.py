"""What confines jobs on a host: as the node shows it, and as the kernel has it."""
import glob


def confinement(cx):
    """{what: by what} as the node n1 shows it."""
    return dict(w.split(":") for w in cx.api.stat("vnode", "n1")[0]["confinement"].split(","))


def groups(prefix="pbs_"):
    return set(glob.glob(f"/sys/fs/cgroup/*/{prefix}*") + glob.glob(f"/sys/fs/cgroup/{prefix}*"))
