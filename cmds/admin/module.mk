# Commands of managers and operators.
include cmds/commands.mk
ADMIN.cmds := qdisable qenable qrun qstart qstop qterm
ADMIN.sbin := pbs_account pbs_probe

$(call storey,  cmds/admin, cmds/lib ifl/spec ifl/def base, $(ADMIN.cmds:=.c) $(ADMIN.sbin:=.c) pbs_idled.c pbs_preempt.c qmgr.c)
$(call tests,   cmds/admin, cmds/lib ifl/def ifl/spec base, -ljansson -lm)
$(call command, cmds/admin, bin, $(ADMIN.cmds))
$(call command, cmds/admin, sbin, $(ADMIN.sbin))
$(call program, sbin/pbs_idled, cmds/lib/main.c cmds/admin/pbs_idled.c, cmds/lib ifl/spec base, -lxcb -lxcb-screensaver)
$(call program, bin/pbs_preempt, cmds/lib/main.c cmds/admin/pbs_preempt.c, cmds/admin $(CMDS.storeys), $(CMDS.libs) $(CMDS.jansson))
$(call program, bin/qmgr, cmds/lib/main.c cmds/admin/qmgr.c, cmds/admin $(CMDS.storeys), $(CMDS.libs) -ledit $(CMDS.jansson))
