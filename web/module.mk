# pbs_web: REST, metrics and the page. Built where libmicrohttpd is installed; nothing else of Cede needs it.
include cmds/commands.mk
ifneq ($(call have,libmicrohttpd,--libs),)
$(call storey,  web, cmds/admin cmds/job cmds/status cmds/lib ifl/spec ifl/def base, pbs_web.c)
$(call tests,   web, cmds/lib ifl/lib ifl/rpc ifl/spec ifl/def protocol base, $(CMDS.libs) $(CMDS.jansson))
$(call program, sbin/pbs_web, cmds/lib/main.c web/pbs_web.c, web cmds/admin cmds/job cmds/status $(CMDS.storeys), \
  $(CMDS.libs) -lmicrohttpd -lcrypto $(CMDS.jansson))

$(B)/obj/web/web_page.o: $(GEN)/web_page_files.h
$(GEN)/web_page_files.h: $(wildcard web/page/*) tools/embed
	@mkdir -p $(@D)
	@tools/embed $(wildcard web/page/*) > $@
endif
