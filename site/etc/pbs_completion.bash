# Completion for bash: options with what their help says they take, queues, own jobs, nodes, files. pbs.sh loads it.
#
# A command's options are asked of the command itself (--help), so this file knows none of them.

__pbs_options() { "$1" --help 2>/dev/null | sed -n 's/^ *\(-[[:alnum:]]\).*/\1/p; s/^ *-[[:alnum:]], *\(--[[:alnum:]-]*\).*/\1/p; s/^ *\(--[[:alnum:]-]*\).*/\1/p'; }
__pbs_queues() { qstat -Q 2>/dev/null | awk 'NR > 2 { print $1 }'; }
__pbs_jobs() { qselect -u "$(id -un)" "$@" 2>/dev/null; }
__pbs_resvs() { pbs_rstat -B 2>/dev/null | sed -n 's/^Resv ID: //p'; }
__pbs_nodes() { pbsnodes -a 2>/dev/null | sed -n 's/^\([^[:space:]].*\)/\1/p'; }
__pbs_list=$(dirname "${BASH_SOURCE[0]}")/pbs_resources # the built-in ones; qmgr lists those of the site
__pbs_resources() { { cat "$__pbs_list"; qmgr -c "list resource" | sed -n 's/^Resource \(.*\)/\1/p'; } 2>/dev/null | sed 's/$/=/'; }
__pbs_entities() { pbsfs -t 2>/dev/null | sed 's/^ *//; s/([-0-9]*)$//'; }

# What the word before the cursor's asks for: "-q" of qsub is followed by a queue.
__pbs_value() { # command, option
    case $1,$2 in
    qsub,-q | qalter,-q | qselect,-q) __pbs_queues ;;
    qsub,-j | qalter,-j) printf '%s\n' oe eo n ;;
    qsub,-k | qalter,-k) printf '%s\n' o e oe n doe ;;
    qsub,-m | qalter,-m) printf '%s\n' a b e abe n ;;
    qsub,-R | qalter,-R) printf '%s\n' o e oe ;;
    qsub,-r | qalter,-r | qselect,-r) printf '%s\n' y n ;;
    qsub,-l | qsub,--or | qalter,-l | qselect,-l) __pbs_resources ;;
    qsub,-v) compgen -v ;;
    qsub,-W | qalter,-W) printf '%s=\n' block depend group_list interactive max_run_subjobs preempt_signal \
        release_nodes_on_stageout run_count sandbox stagein stageout tolerate_node_failures umask ;;
    qdel,-W) printf '%s\n' force suppress_email= ;;
    qrerun,-W) echo force ;;
    qhold,-h | qrls,-h | qalter,-h) printf '%s\n' u o s n ;;
    qrun,-H) __pbs_nodes ;;
    pbs_rsub,--job) __pbs_jobs -s R ;;
    pbs_rsub,--hosts) __pbs_nodes ;;
    pbs_rsub,-l) __pbs_resources ;;
    pbs_rsub,-W) printf '%s=\n' qmove delete_idle_time Account_Name ;;
    pbs_ralter,-W) echo force ;;
    pbs_ralter,-l) echo select= ;;
    pbs_rsub,-m | pbs_ralter,-m) printf '%s\n' a b c e ac n ;;
    pbs_rstat,-F) echo json; __pbs_resvs ;;
    pbs_rsub,-[REDIrNgUGHq] | pbs_ralter,-[REDINUGq]) ;;
    qstat,-F | pbsnodes,-F | pbs_doctor,-F) printf '%s\n' json dsv default ;;
    *,-u) compgen -u ;;
    tracejob,-f) printf '%s\n' error system admin job job_usage security sched debug debug2 resv debug3 debug4 force ;;
    pbs_release_nodes,-j) __pbs_jobs -s R ;;
    qsub,-[SoeAcCJMpPaN] | qalter,-[SoeAcMpPaN] | qselect,-[aAcpPtN] | *,-[CDnpw]) ;;
    qterm,-t) printf '%s\n' immediate delay quick ;;
    qsig,-s) printf '%s\n' suspend resume "$(compgen -A signal SIG)" ;;
    pbs_preempt,--policy) __pbs_queues ;;
    pbs_preempt,-F | pbs_eff,-F | pbs_explain,-F | qsub,-F) printf '%s\n' json default ;;
    pbs_web,--identity) echo token ;;
    qselect,-s) printf '%s\n' Q R H S W E B T X F M ;;
    pbsfs,-[gsc]) __pbs_entities ;;
    pbsfs,-I) qmgr -c "list sched" 2>/dev/null | sed -n 's/^Sched //p' ;;
    *) return 1 ;;
    esac
}

# Inside a value that the shell has cut at : and =, "-l select=1:nc": a resource of the chunk, a word of the placement.
__pbs_inside() { # command
    local at=$COMP_CWORD before=
    [[ ${COMP_WORDS[at]} == [:=] ]] || ((at--))
    [[ ${COMP_WORDS[at]} == [:=] ]] || return 1
    while ((at > 0)) && [[ ${COMP_WORDS[at]} != -* ]]; do before=${COMP_WORDS[at--]}$before; done
    case $1,${COMP_WORDS[at]},$before in
    qsub,-l,place=* | qalter,-l,place=*) printf '%s\n' pack free scatter vscatter excl exclhost shared group= ;;
    qsub,-l,select=*: | qalter,-l,select=*:) __pbs_resources ;;
    *) return 1 ;;
    esac
}

__pbs_operands() { # command
    case $1 in
    pbs_complex) printf '%s\n' start stop env status restart kill logs add-node ;;
    pbs_store) ((COMP_CWORD == 1)) || return 1; printf '%s\n' status check dump restore migrate ;;
    pbs_keys) ((COMP_CWORD == 1)) || return 1; printf '%s\n' list issue renew revoke token join ca trust ;;
    pbs_web) if ((COMP_CWORD == 1)); then echo token; elif [[ ${COMP_WORDS[1]} == token ]]; then printf '%s\n' list revoke; else return 1; fi ;;
    qpeek) __pbs_jobs -s RS ;;
    qdel | qalter | qmsg | qsig | qorder | qstat | tracejob | printjob | qwait | pbs_preempt | pbs_eff | pbs_explain) __pbs_jobs ;;
    qhold) __pbs_jobs -s QRW ;;
    qrls) __pbs_jobs -s H ;;
    qrerun) __pbs_jobs -s RS ;;
    qrun) qselect -s Q 2>/dev/null ;;
    qstart | qstop | qenable | qdisable) __pbs_queues ;;
    qmove) if ((COMP_CWORD > 1)); then __pbs_jobs -s QHW; else __pbs_queues; fi ;;
    pbsnodes | pbs_release_nodes | pbs_topologyinfo) __pbs_nodes ;;
    pbsfs) __pbs_entities ;;
    pbs_rstat | pbs_rdel | pbs_ralter) __pbs_resvs ;;
    *) return 1 ;;
    esac
}

_pbs() {
    local command=${1##*/} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words
    COMPREPLY=()
    if [[ $word == -* ]]; then
        words=$(__pbs_options "$1")
    elif words=$(__pbs_inside "$command"); then
        word=${word#[:=]}
    elif [[ $before == -* ]] && words=$(__pbs_value "$command" "$before"); then
        :
    elif ! words=$(__pbs_operands "$command"); then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}

complete -F _pbs qsub qstat qdel qalter qhold qrls qrerun qrun qsig qmsg qpeek qmove qorder qselect qstart qstop qenable \
    qdisable qterm pbsnodes tracejob qwait pbsfs pbs_preempt printjob pbs_release_nodes \
    qmgr pbs_complex pbs_preempt_ack pbs_attach pbs_eff pbs_explain pbs_hostn pbs_rsub pbs_ralter pbs_rdel pbs_rstat pbs_snapshot pbs_probe pbs_account pbsdsh \
    pbs_topologyinfo pbs_config pbs_idled pbsrun_wrap pbsrun_unwrap pbs_store pbs_doctor pbs_keys pbs_sim pbs_web qtop
