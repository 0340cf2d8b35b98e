"""cede: a workload manager in Python's terms, over libpbs.

    import cede

    with cede.connect() as pbs:
        job = pbs.submit("#!/bin/sh\\nhostname\\n", select="1:ncpus=2", walltime="00:10:00")
        print(job.id, job.wait())
        for node in pbs.nodes():
            print(node.name, node.state, node["resources_available"]["ncpus"])

Whatever a program may do here, the user who runs it may do with the commands, and nothing more.
"""
from . import aio
from .connection import Connection, connect
from .errors import (AttributeRefused, BadAttribute, JobHasEnded, LimitExceeded, NotConnected, PbsError, Unauthorized, UnknownJob,
                     UnknownNode, UnknownQueue, UnknownReservation, WrongState)
from .executor import Executor, JobFailed
from .mirror import Mirror
from .objects import Job, Node, Object, Queue, Reservation, Server
from .submission import Submission, build as prepare
from .values import Size
from .watch import Change, Watch

__all__ = ["AttributeRefused", "BadAttribute", "Change", "Connection", "Executor", "Job", "JobFailed", "JobHasEnded", "LimitExceeded", "Mirror", "Node",
           "NotConnected", "Object", "PbsError", "Queue", "Reservation", "Server", "Size", "Submission", "Unauthorized", "UnknownJob",
           "UnknownNode", "UnknownQueue", "UnknownReservation", "Watch", "WrongState", "aio", "connect", "prepare"]
