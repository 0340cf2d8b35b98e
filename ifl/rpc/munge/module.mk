$(call storey, ifl/rpc/munge, ifl/rpc base)

# Loaded for TCP only, so that nothing else links MUNGE.
EXTRA += $(B)/lib/libauth_munge.so
$(B)/lib/libauth_munge.so: $(call archive,ifl/rpc/munge) $(call archive,base)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	@$(CC) $(CFLAGS) $(SANLINK) -shared -Wl,-soname,libauth_munge.so -Wl,-z,defs -o $@ -Wl,--whole-archive \
	  $(call archive,ifl/rpc/munge) -Wl,--no-whole-archive $(call archive,base) -lmunge
