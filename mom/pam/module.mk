# pam_pbs.so: logins on a host of jobs. Built where the headers of PAM are installed; nothing else of Cede needs it.
ifneq ($(wildcard /usr/include/security/pam_modules.h),)
$(call storey, mom/pam, ifl/rpc ifl/spec base)
$(call tests,  mom/pam, ifl/rpc ifl/spec protocol base, -ltirpc -lpthread -ldl)

# It is loaded into sshd and must bring nothing there: libtirpc is inside, as in libpbs, and its own names are not seen.
PAM.parts := $(call archive,ifl/rpc ifl/spec protocol base)
EXTRA += $(B)/lib/security/pam_pbs.so
$(B)/lib/security/pam_pbs.so: $(call archive,mom/pam) $(PAM.parts) mom/pam/pam_pbs.map
	@mkdir -p $(@D)
	@echo "  LD   $@"
	@$(CC) $(CFLAGS) $(SANLINK) -shared -Wl,-soname,pam_pbs.so -Wl,--version-script=mom/pam/pam_pbs.map -o $@ \
	  -Wl,--whole-archive $(call archive,mom/pam) -Wl,--no-whole-archive -Wl,--start-group $(PAM.parts) -Wl,--end-group \
	  $(if $(SANITIZE),-ltirpc,-Wl$(comma)-Bstatic -ltirpc -Wl$(comma)-Bdynamic) -lpam -lpthread -ldl
else
.PHONY: without_pam
EXTRA += without_pam
without_pam:
	@echo "  --   pam_pbs.so is not built: security/pam_modules.h is missing (libpam0g-dev, pam-devel)"
endif
