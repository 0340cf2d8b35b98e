"""Ports of this host, claimed as pbs_complex claims them (cmds/complex/complex_ports.h): nobody else takes one meanwhile."""
import os
import random
import socket

CLAIMS = "/tmp/pbs_complex_ports"
FIRST, COUNT = 10000, 20000


def is_free(port):
    with socket.socket() as s:
        try:
            s.bind(("", port))
        except OSError:
            return False
    return True


def claim(root):
    """A port for the complex in this directory; pbs_complex forgets the claim when the directory is gone."""
    try:
        os.mkdir(CLAIMS, 0o1777)
        os.chmod(CLAIMS, 0o1777)  # whatever the umask says
    except FileExistsError:
        pass
    while True:
        port = random.randrange(FIRST, FIRST + COUNT)
        try:
            os.symlink(root, os.path.join(CLAIMS, str(port)))
        except FileExistsError:
            continue
        if is_free(port):
            return port
        os.unlink(os.path.join(CLAIMS, str(port)))


def claimed(root):
    """The ports that are claimed for this directory."""
    found = []
    for name in os.listdir(CLAIMS):
        try:
            if os.readlink(os.path.join(CLAIMS, name)) == root:
                found.append(int(name))
        except OSError:
            pass  # of a complex that has gone meanwhile
    return found
