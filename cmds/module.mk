# Each command is cmds/NAME.c, linked with the same main.c and, statically, with what libpbs is made of: a
# command's start costs no more libraries than libc. libtirpc is taken from its archive for the same reason (the
# shared one loads Kerberos). They are linked without PIE and without what they do not call: fewer pages to touch.
CMDS := pbs_hostn pbsnodes qalter qdel qdisable qenable qhold qmove qmsg qorder qrerun qrls qrun qselect qsig \
        qstart qstat qstop qsub qterm qwait tracejob
CMDS += pbs_complex pbs_release_nodes pbs_rstat pbs_sleep pbs_topologyinfo printjob
# Of administrators, in sbin.
SBIN_CMDS := pbs_account pbs_probe
# Inside jobs.
CMDS += pbsdsh pbs_tmrsh pbs_attach pbs_preempt_ack
# The sanitizers know the XDR functions of a shared libtirpc only.
CMDS.libs := $(if $(SANITIZE),-ltirpc,-Wl,-Bstatic -ltirpc -Wl,-Bdynamic) -lpthread -ldl

$(call storey, cmds, ifl/spec ifl/def base, $(CMDS:=.c) $(SBIN_CMDS:=.c) qmgr.c pbs_preempt.c pbs_idled.c)
$(call tests,  cmds, ifl/def ifl/spec base, -ljansson -lm)

CMDS.storeys := cmds ifl/lib ifl/rpc ifl/spec ifl/def protocol base
$(foreach c,$(CMDS),$(call program, bin/$(c), cmds/main.c cmds/$(c).c, $(CMDS.storeys), -no-pie -Wl$(comma)--gc-sections $(CMDS.libs)))
$(foreach c,$(SBIN_CMDS),$(call program, sbin/$(c), cmds/main.c cmds/$(c).c, $(CMDS.storeys), -no-pie -Wl$(comma)--gc-sections $(CMDS.libs)))
$(call program, sbin/pbs_idled, cmds/main.c cmds/pbs_idled.c, cmds ifl/spec base, -lxcb -lxcb-screensaver -lpthread)
CMDS.jansson := $(if $(SANITIZE),-ljansson,-Wl$(comma)-Bstatic -ljansson -Wl$(comma)-Bdynamic) -lm
$(call program, bin/pbs_preempt, cmds/main.c cmds/pbs_preempt.c, $(CMDS.storeys), $(CMDS.libs) $(CMDS.jansson))
$(call program, bin/qmgr, cmds/main.c cmds/qmgr.c, $(CMDS.storeys), \
  $(CMDS.libs) -ledit $(CMDS.jansson))
