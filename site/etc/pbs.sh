# For /etc/profile.d: commands and manual of PBS for all users who log in, and completion in bash.
__pbs_conf=${PBS_CONF_FILE:-/etc/pbs.conf}
if [ -r "$__pbs_conf" ]; then
    __pbs_exec=$(sed -n 's/^[[:space:]]*PBS_EXEC[[:space:]]*=[[:space:]]*//p' "$__pbs_conf" | tail -n 1)
    if [ -d "$__pbs_exec/bin" ]; then
        case ":$PATH:" in *":$__pbs_exec/bin:"*) ;; *) PATH=$PATH:$__pbs_exec/bin ;; esac
        if [ "$(id -u)" = 0 ]; then
            case ":$PATH:" in *":$__pbs_exec/sbin:"*) ;; *) PATH=$PATH:$__pbs_exec/sbin ;; esac
        fi
        case ":${MANPATH-}:" in *":$__pbs_exec/share/man:"*) ;; *) MANPATH=${MANPATH-}:$__pbs_exec/share/man ;; esac
        export PATH MANPATH
        if [ -n "${BASH_VERSION-}" ] && [ -r "$__pbs_exec/etc/pbs_completion.bash" ]; then
            . "$__pbs_exec/etc/pbs_completion.bash"
        fi
    fi
    unset __pbs_exec
fi
unset __pbs_conf
