# For /etc/profile.d: commands and manual of PBS for all users who log in.
set __pbs_conf = /etc/pbs.conf
if ( $?PBS_CONF_FILE ) set __pbs_conf = "$PBS_CONF_FILE"
if ( -r "$__pbs_conf" ) then
    set __pbs_exec = `sed -n 's/^[[:space:]]*PBS_EXEC[[:space:]]*=[[:space:]]*//p' "$__pbs_conf" | tail -n 1`
    if ( -d "$__pbs_exec/bin" ) then
        setenv PATH "${PATH}:$__pbs_exec/bin"
        if ( `id -u` == 0 ) setenv PATH "${PATH}:$__pbs_exec/sbin"
        if ( $?MANPATH ) then
            setenv MANPATH "${MANPATH}:$__pbs_exec/share/man"
        else
            setenv MANPATH ":$__pbs_exec/share/man"
        endif
    endif
    unset __pbs_exec
endif
unset __pbs_conf
