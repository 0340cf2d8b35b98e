# What commands share. main.c is linked into each of them.
$(call storey, cmds/lib, ifl/spec ifl/def base)
$(call tests,  cmds/lib, ifl/def ifl/spec base, -ljansson -lm)
