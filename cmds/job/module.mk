# Commands that submit, change and end jobs, and those that run inside jobs.
include cmds/commands.mk
JOB.cmds := qalter qdel qhold qmove qmsg qorder qpeek qrerun qrls qsig qsub qwait pbs_ralter pbs_rdel pbs_release_nodes pbs_rsub pbs_sleep \
            pbs_attach pbs_preempt_ack pbs_tmrsh pbsdsh

$(call storey,  cmds/job, cmds/lib ifl/spec ifl/def base, $(JOB.cmds:=.c))
$(call tests,   cmds/job, cmds/lib ifl/def ifl/spec base, -ljansson -lm)
$(call command, cmds/job, bin, $(JOB.cmds))
