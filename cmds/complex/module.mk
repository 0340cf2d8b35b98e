# pbs_complex: a private complex as a directory.
include cmds/commands.mk
$(call storey,  cmds/complex, cmds/lib ifl/spec ifl/def base, pbs_complex.c)
$(call tests,   cmds/complex, cmds/lib ifl/def ifl/spec base, -ljansson -lm)
$(call command, cmds/complex, bin, pbs_complex)
