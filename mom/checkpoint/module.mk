# Scripts for $action, as a site names them in mom_priv/config.
EXTRA += $(B)/libexec/ckpt-app $(B)/libexec/ckpt-criu $(B)/libexec/ckpt-dmtcp
$(B)/libexec/ckpt-app $(B)/libexec/ckpt-criu $(B)/libexec/ckpt-dmtcp: $(B)/libexec/ckpt-%: mom/checkpoint/ckpt-%
	@mkdir -p $(@D) && cp $< $@ && chmod 755 $@
