$(call storey, ifl/rpc/tls, ifl/rpc base)
$(call tests,  ifl/rpc/tls, ifl/rpc base, -ltirpc -lssl -lcrypto -lpthread -ldl)

# Loaded by libpbs for TCP only, so that a local command links no OpenSSL.
EXTRA += $(B)/lib/libauth_tls.so
$(B)/lib/libauth_tls.so: $(call archive,ifl/rpc/tls) $(call archive,ifl/rpc) $(call archive,base)
	@mkdir -p $(@D)
	@echo "  LD   $@"
	@$(CC) $(CFLAGS) $(SANLINK) -shared -Wl,-soname,libauth_tls.so -Wl,-z,defs -o $@ -Wl,--whole-archive \
	  $(call archive,ifl/rpc/tls) -Wl,--no-whole-archive $(call archive,ifl/rpc) $(call archive,base) -ltirpc -lssl -lcrypto
