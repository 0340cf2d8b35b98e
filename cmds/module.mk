# Each command is cmds/NAME.c, linked with the same main.c and, statically, with what libpbs is made of: a
# command's start costs no more libraries than libc. libtirpc is taken from its archive for the same reason (the
# shared one loads Kerberos).
CMDS.bin  := qdel qhold qrls qrerun qsig qstat qsub
CMDS.sbin :=
CMDS.bin  += pbs_complex
CMDS.libs := -Wl,-Bstatic -ltirpc -Wl,-Bdynamic -lpthread -ldl

$(call storey, cmds, ifl/spec ifl/def base, $(CMDS.bin:=.c) qmgr.c $(CMDS.sbin:=.c))
$(call tests,  cmds, ifl/spec ifl/def base,)

CMDS.storeys := cmds ifl/lib ifl/rpc ifl/spec ifl/def protocol base
$(foreach c,$(CMDS.bin),$(call program, bin/$(c), cmds/main.c cmds/$(c).c, $(CMDS.storeys), $(CMDS.libs)))
$(call program, bin/qmgr, cmds/main.c cmds/qmgr.c, $(CMDS.storeys), $(CMDS.libs) -ledit)
$(foreach c,$(CMDS.sbin),$(call program, sbin/$(c), cmds/main.c cmds/$(c).c, $(CMDS.storeys), $(CMDS.libs)))
