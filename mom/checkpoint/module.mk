# Scripts for $action, as a site names them in mom_priv/config.
EXTRA += $(B)/libexec/ckpt-app
$(B)/libexec/ckpt-app: mom/checkpoint/ckpt-app
	@mkdir -p $(@D) && cp $< $@ && chmod 755 $@
