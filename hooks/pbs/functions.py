"""What scripts call beside pbs.event() and pbs.server(): the log, the host, the configuration, reboot."""
from __future__ import annotations

from typing import NoReturn, Optional

from .constants import LOG_EVENTS, LOG_LEVELS
from .run import current

_LEVEL_MASK = LOG_EVENTS["ADMIN"] | LOG_EVENTS["SYSTEM"]


def logmsg(level: int, message: str) -> None:
    """A line of the daemon's log. level: pbs.LOG_DEBUG, LOG_WARNING, LOG_ERROR, or pbs.EVENT_*, which log_events filters."""
    if level in LOG_LEVELS.values():
        mask = _LEVEL_MASK
    elif level in LOG_EVENTS.values():
        mask = level
    else:
        raise TypeError(f"Invalid severity or eventtype value {level}")
    run = current()
    run.log.line(mask, "Hook", None, str(message))


def logjobmsg(jobid: str, message: str) -> None:
    """A line about a job."""
    current().log.line(LOG_EVENTS["ADMIN"] | LOG_EVENTS["SYSTEM"], "Job", str(jobid), str(message))


def get_local_nodename() -> str:
    """The name of this host, without its domain."""
    return current().host.partition(".")[0]


def get_hook_config_file() -> Optional[str]:
    """Path of the hook's configuration file, or None."""
    return current().config


def get_pbs_conf() -> dict[str, str]:
    """pbs.conf as a dictionary."""
    return dict(current().conf)


def get_pbs_server_name() -> str:
    """The server's name."""
    return current().server


def get_python_daemon_name() -> str:
    """The program that runs the hook."""
    return current().daemon


def reboot(cmd: Optional[str] = None) -> NoReturn:
    """Have this host rebooted, by a command of the site if one is given; the script ends here. Hooks of execution hosts only."""
    run = current()
    if not run.event.startswith("exec"):
        raise RuntimeError("reboot() is for hooks of execution hosts")
    if run.as_user:
        raise RuntimeError("Not allowed to issue reboot if run as user")
    run.reboot = cmd or ""
    run.decided = True
    raise SystemExit(0)
