$(call storey, ifl/lib, ifl/rpc ifl/spec ifl/def base)
$(call tests,  ifl/lib, ifl/rpc ifl/spec ifl/def protocol base, -ltirpc -lpthread -ldl)

# What strangers link (versions of symbols: libpbs.map): only the names of pbs_ifl.h, pbs_ext.h, tm.h and rm.h are seen from outside. The archive is one
# object with everything inside, so that a program needs libpbs.a, libtirpc and nothing of ours beside it. The shared
# one has what it needs of libtirpc inside, as the commands have (cmds/commands.mk): the shared libtirpc would load
# Kerberos and five libraries more into every program, and double its start. The sanitizers know the shared one only.
RM.calls := openrm closerm downrm configrm addreq allreq getreq flushreq activereq fullresp
LIBPBS.parts := $(call archive,ifl/lib ifl/rpc ifl/spec ifl/def protocol base)
# Programs that were linked with OpenPBS ask for libpbs.so.0.
EXTRA += $(B)/lib/libpbs.so $(B)/lib/libpbs.a
$(B)/lib/libpbs.so: $(B)/lib/libpbs.so.0
	@ln -sfn libpbs.so.0 $@
$(B)/lib/libpbs.so.0: $(LIBPBS.parts) ifl/lib/libpbs.map
	@mkdir -p $(@D)
	@echo "  LD   $@"
	@$(CC) $(CFLAGS) $(SANLINK) -shared -Wl,-soname,libpbs.so.0 -Wl,--version-script=ifl/lib/libpbs.map -o $@ \
	  -Wl,--exclude-libs,libtirpc.a$(subst $(eval) ,,$(patsubst %,:%,$(notdir $(wordlist 2,99,$(LIBPBS.parts))))) \
	  -Wl,--whole-archive $(firstword $(LIBPBS.parts)) -Wl,--no-whole-archive \
	  -Wl,--start-group $(wordlist 2,99,$(LIBPBS.parts)) -Wl,--end-group \
	  $(if $(SANITIZE),-ltirpc,-Wl$(comma)-Bstatic -ltirpc -Wl$(comma)-Bdynamic) -lpthread -ldl
$(B)/lib/libpbs.a: $(LIBPBS.parts)
	@mkdir -p $(@D)
	@echo "  AR   $@"
	@ld -r -o $(@D)/libpbs.o --whole-archive $(firstword $^) --no-whole-archive --start-group $(wordlist 2,99,$^) --end-group
	@objcopy --wildcard --keep-global-symbol='pbs_*' --keep-global-symbol='__pbs_*' --keep-global-symbol='pfn_pbs_*' --keep-global-symbol='!pbs_info_*' --keep-global-symbol='tm_*' --keep-global-symbol='!tm_link_*' $(RM.calls:%=--keep-global-symbol='%') $(@D)/libpbs.o
	@rm -f $@ && ar rcs $@ $(@D)/libpbs.o && rm -f $(@D)/libpbs.o
