# pbs_web: REST and metrics. Built where libmicrohttpd is installed; nothing else of Cede needs it.
include cmds/commands.mk
ifneq ($(call have,libmicrohttpd,--libs),)
$(call storey,  web, cmds/admin cmds/status cmds/lib ifl/spec ifl/def base, pbs_web.c)
$(call tests,   web, cmds/lib ifl/lib ifl/rpc ifl/spec ifl/def protocol base, $(CMDS.libs) $(CMDS.jansson))
$(call program, sbin/pbs_web, cmds/lib/main.c web/pbs_web.c, web cmds/admin cmds/status $(CMDS.storeys), \
  $(CMDS.libs) -lmicrohttpd -lcrypto $(CMDS.jansson))
endif
