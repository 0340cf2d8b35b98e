#!/bin/sh
# pbs_init.d {start|stop|restart|reload|status} [server|mom|sched|comm]
# pbs_init.d --version
#
# Starts and stops the daemons that pbs.conf gives to this host (PBS_START_COMM, _MOM, _SCHED, _SERVER). A variable in
# the environment wins over the file, so   PBS_START_SERVER=0 PBS_START_SCHED=0 pbs_init.d restart   restarts the MOM
# alone; so does   pbs_init.d restart mom   , which leaves the daemons the words of the file, and is how the units of
# systemd do it. A daemon goes to the background when it is ready and makes what its home lacks; this script only knows their
# order, their lock files and the messages that administrators of PBS expect.
#
# Jobs run on while daemons are down: a MOM that stops leaves them to their shepherds and finds them when it is back.

conf=${PBS_CONF_FILE:-/etc/pbs.conf}
name=${0##*/}
stop_limit_s=180

fail() {
    echo "$*" >&2
    exit 1
}

# NAME=value lines; what the environment has already stays.
read_conf() {
    [ -r "$conf" ] || fail "$name: $conf is missing or cannot be read; PBS_CONF_FILE may name another file"
    while IFS= read -r line || [ -n "$line" ]; do
        line=$(printf '%s' "$line" | sed -e 's/^[[:space:]]*//; s/^export[[:space:]]*//; s/[[:space:]]*$//' \
            -e 's/[[:space:]]*=[[:space:]]*/=/; s/="\(.*\)"$/=\1/' -e "s/='\\(.*\\)'\$/=\\1/")
        case $line in
        PBS_*=*) ;;
        *) continue ;;
        esac
        key=${line%%=*}
        case $key in *[!A-Z0-9_]*) continue ;; esac
        eval "[ -n \"\${$key+set}\" ]" || export "$key=${line#*=}"
    done <"$conf"
    for key in PBS_EXEC PBS_HOME PBS_SERVER; do
        eval "[ -n \"\${$key-}\" ]" || fail "pbsconf error: pbs conf variables not found: $key"
    done
    export PBS_CONF_FILE="$conf"
}

# Without its server no daemon starts: report it here, with the remedy.
must_find_server() {
    host=${PBS_SERVER_HOST_NAME:-$PBS_SERVER}
    host=${host%%:*} here=$(uname -n)
    case $host in
    '' | [.-]* | *[!A-Za-z0-9._-]*)
        fail "*** The hostname of the PBS server in $conf is invalid.
*** Update PBS_SERVER there before starting PBS." ;;
    esac
    [ "$host" = "$here" ] || [ "$host" = "${here%%.*}" ] || [ -n "${PBS_PRIMARY-}" ] || getent hosts "$host" >/dev/null ||
        fail "*** The PBS server could not be found: $host
*** Let the resolver know that name, or update PBS_SERVER in $conf."
}

is_on() { # the word of PBS_START_x
    case ${1-} in '' | *[!0-9]*) return 1 ;; esac
    [ "$1" -ne 0 ]
}

# Of a process that has ended but was not waited for, only the name is left. Every user may see this.
is_alive() { # pid, program
    case $(cat "/proc/$1/stat" 2>/dev/null) in
    "$1 ($2) "[ZX]*) return 1 ;;
    "$1 ($2) "*) return 0 ;;
    esac
    return 1
}

# Some lock files are for their owner alone: a user who may not read them does not know that nothing runs.
is_visible() { # lock file
    [ -r "$1" ] && return 0
    [ ! -e "$1" ] && { [ -x "${1%/*}" ] || [ ! -e "${1%/*}" ]; }
}

is_ours() { # server, mom, sched or comm: given to this host, and meant
    [ -z "$only" ] || [ "$only" = "$1" ] || return 1
    eval "is_on \"\${PBS_START_$(echo "$1" | tr '[:lower:]' '[:upper:]')-}\""
}

must_have_it() {
    [ -z "$only" ] || is_ours "$only" || fail "$name: $conf does not give $only to this host (PBS_START_...)"
}

must_see_locks() {
    for one in server mom sched comm; do
        is_ours "$one" || continue
        lock=$("${one}_lock")
        is_visible "$lock" || fail "$name: you may not read $lock; daemons are started and stopped by root"
    done
}

# A daemon's lock file holds its pid while it lives. Another process may have the number by now, so its name is compared.
pid_of() { # program, lock file
    pid=$(cat "$2" 2>/dev/null) || return 1
    case $pid in '' | *[!0-9]*) return 1 ;; esac
    is_alive "$pid" "$1" && echo "$pid"
}

comm_lock() { echo "$PBS_HOME/server_priv/comm.lock"; }
mom_lock() { echo "${PBS_MOM_HOME:-$PBS_HOME}/mom_priv/mom.lock"; }
sched_lock() { echo "$PBS_HOME/sched_priv/sched.lock"; }
server_lock() { if is_secondary; then echo "$PBS_HOME/server_priv/server.lock.secondary"; else echo "$PBS_HOME/server_priv/server.lock"; fi; }

is_secondary() { # of a pair of servers, by the name of this host
    [ -n "${PBS_PRIMARY-}" ] && [ -n "${PBS_SECONDARY-}" ] || return 1
    host=$(uname -n)
    case ${PBS_SECONDARY%%:*} in "$host" | "${host%%.*}") return 0 ;; esac
    return 1
}

# The site's own limits (ulimit, or any other command to run before a daemon), then the daemon itself.
become() { # program without pbs_, option
    limits=$PBS_EXEC/lib/init.d/limits.pbs_$1
    # shellcheck disable=SC1090 # a file of the site
    [ -r "$limits" ] && . "$limits"
    exec "$PBS_EXEC/sbin/pbs_$1" $2
}

start_one() { # what people call it, program, lock file
    if pid_of "pbs_$2" "$3" >/dev/null; then
        case $2 in
        sched) echo "PBS scheduler already running." ;;
        server) echo "PBS Server already running." ;;
        *) echo "PBS $2 already running." ;;
        esac
        return
    fi
    (become "$2") </dev/null
    code=$?
    [ $code = 0 ] || fail "pbs_$2 startup failed, exit $code aborting."
    echo "PBS $1"
}

# A core file would be overwritten by the next one, and shows a fault that an administrator should know of.
set_aside_cores() {
    for dir in "$PBS_HOME/server_priv" "$PBS_HOME/sched_priv" "${PBS_MOM_HOME:-$PBS_HOME}/mom_priv"; do
        for core in "$dir"/core "$dir"/core.[0-9]*; do
            [ -f "$core" ] || continue
            n=1
            while [ -e "$(printf '%s/core_%04d' "$dir" $n)" ]; do n=$((n + 1)); done
            to=$(printf '%s/core_%04d' "$dir" $n)
            mv "$core" "$to" && echo "Warning: $core was found, and is now $to"
        done
    done
}

# The server comes before its MOM, unlike in PBS: at the very first start it makes the certificates of the complex.
start() {
    echo "Starting PBS"
    set_aside_cores
    if is_ours comm; then start_one comm comm "$(comm_lock)"; fi
    if is_ours server; then start_one server server "$(server_lock)"; fi
    if is_ours mom; then start_one mom mom "$(mom_lock)"; fi
    if is_ours sched; then start_one sched sched "$(sched_lock)"; fi
}

# For the units of systemd: this process becomes the daemon.
run() {
    [ -n "$only" ] || usage
    if pid=$(pid_of "pbs_$only" "$("${only}_lock")"); then
        fail "pbs_$only runs already, and systemd has not started it (pid $pid): $PBS_EXEC/libexec/pbs_init.d stop $only, then start it again"
    fi
    set_aside_cores
    become "$only" -N
}

stop_server() { # pid
    if [ -r "$PBS_HOME/server_priv/qmgr_shutdown" ]; then
        "$PBS_EXEC/bin/qmgr" <"$PBS_HOME/server_priv/qmgr_shutdown"
    fi
    own=
    if is_secondary; then
        own=$PBS_SECONDARY
    elif [ -n "${PBS_PRIMARY-}" ] && [ -n "${PBS_SECONDARY-}" ]; then
        own=$PBS_PRIMARY
    fi
    if is_secondary && [ ! -e "$PBS_HOME/server_priv/secondary_active" ]; then
        echo "This is secondary server, killing process."
        kill -TERM "$1" 2>/dev/null
        echo "PBS server - was pid: $1"
        return
    elif [ -n "$own" ] && ! is_secondary; then
        echo "This is active server, shutting down with qterm, secondary will take over."
    else
        echo "Shutting server down with qterm."
    fi
    if ! "$PBS_EXEC/bin/qterm" -t quick $own; then
        echo "Killing Server."
        kill -TERM "$1" 2>/dev/null
    fi
    echo "PBS server - was pid: $1"
}

stop_other() { # program without pbs_, lock file
    if pid=$(pid_of "pbs_$1" "$2"); then
        kill -TERM "$pid" 2>/dev/null
        echo "PBS $1 - was pid: $pid"
        stopping="$stopping $pid:pbs_$1"
    fi
}

# A pid counts as alive while it is still the daemon that was told to end.
still_there() {
    left=
    for one in $stopping; do
        is_alive "${one%%:*}" "${one#*:}" && left="$left ${one#*:}"
    done
    [ -n "$left" ]
}

stop() {
    stopping=
    echo "Stopping PBS"
    if is_ours server && pid=$(pid_of pbs_server "$(server_lock)"); then
        stop_server "$pid"
        stopping="$stopping $pid:pbs_server"
    fi
    if is_ours mom; then stop_other mom "$(mom_lock)"; fi
    if is_ours sched; then stop_other sched "$(sched_lock)"; fi
    if is_ours comm; then stop_other comm "$(comm_lock)"; fi
    tenths=0
    while still_there; do
        [ $tenths = 10 ] && echo "Waiting for shutdown to complete"
        [ $tenths -lt $((stop_limit_s * 10)) ] || fail "Unable to stop PBS,$left still active"
        tenths=$((tenths + 1))
        sleep 0.1
    done
}

reload() {
    for one in comm mom sched server; do
        [ -z "$only" ] || [ "$only" = "$one" ] || continue
        pid=$(pid_of "pbs_$one" "$(${one}_lock)") && kill -HUP "$pid"
    done
    return 0
}

status_one() { # program without pbs_, lock file, words between name and pid
    if ! is_visible "$2"; then
        echo "$name: you may not read $2; ask root whether pbs_$1 runs" >&2
    elif pid=$(pid_of "pbs_$1" "$2"); then
        echo "pbs_$1 is $3$pid"
    else
        echo "pbs_$1 is not running"
    fi
}

status() {
    if is_ours server; then status_one server "$(server_lock)" "pid "; fi
    if is_ours mom; then status_one mom "$(mom_lock)" "pid "; fi
    if is_ours sched; then status_one sched "$(sched_lock)" "pid "; fi
    if is_ours comm; then status_one comm "$(comm_lock)" ""; fi
}

case $name in # other names of this script
pbs_start) set -- start "$@" ;;
pbs_stop) set -- stop "$@" ;;
esac

# For the units of systemd: does this host have that daemon? To systemd 255 is an error, and a lower code means no.
wants() {
    (read_conf) || exit 255 # said by this one
    read_conf
    [ -n "$only" ] || fail "usage: $name wants server|mom|sched|comm"
    is_ours "$only"
}

usage() {
    echo "Usage: $name --version"
    echo "Usage: $name {start|stop|restart|status} [server|mom|sched|comm]"
    exit 1
}

only=${2-}
case $only in '' | server | mom | sched | comm) ;; *) usage ;; esac

case ${1-} in
wants) wants ;;
start) read_conf && must_have_it && must_find_server && must_see_locks && start ;;
run) read_conf && must_have_it && must_find_server && must_see_locks && run ;;
stop) read_conf && must_see_locks && stop ;;
restart) read_conf && must_have_it && must_find_server && must_see_locks && stop && start ;;
reload | force-reload) read_conf && must_see_locks && reload ;;
status) read_conf && status ;;
start_msg) echo "Starting PBS" ;;
stop_msg) echo "Stopping PBS" ;;
--version) read_conf && exec "$PBS_EXEC/sbin/pbs_server" --version ;;
*) usage ;;
esac
