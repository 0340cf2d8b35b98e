# Commands that show jobs, nodes, queues, reservations and logs, and change nothing but the state of a node.
include cmds/commands.mk
STATUS.cmds := pbs_eff pbs_explain pbs_hostn pbs_rstat pbs_topologyinfo pbsnodes printjob qselect qstat tracejob

$(call storey,  cmds/status, cmds/lib ifl/spec ifl/def base, $(STATUS.cmds:=.c))
$(call tests,   cmds/status, cmds/lib ifl/def ifl/spec base, -ljansson -lm)
$(call command, cmds/status, bin, $(STATUS.cmds))
