# pbs_launch: ranks of a program over the hosts of a job.
include cmds/commands.mk
$(call storey,  cmds/launch, cmds/lib ifl/rpc base)
$(call tests,   cmds/launch, cmds/lib ifl/rpc protocol base, -ljansson -lm -ltirpc)
$(call command, cmds/launch, bin, pbs_launch)
