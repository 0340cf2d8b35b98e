# What a site gets beside the programs: the init script, the systemd unit, profile scripts, the files a scheduler
# begins with, and pbs_comm, which old start scripts expect. $(B) mirrors PBS_EXEC, so they work from there too.
SITE.storeys := base/loop base
$(call storey, site, ifl/spec $(SITE.storeys), pbs_comm.c)
$(call program, sbin/pbs_comm, site/pbs_comm.c, ifl/spec $(SITE.storeys), \
  -lm)

SITE.scripts := pbs_hook_worker pbs_init.d pbs_postinstall pbs_obfuscate pbs_snapshot_host
EXTRA += $(SITE.scripts:%=$(B)/libexec/%)
$(B)/libexec/%: site/%
	@install -D -m 0755 $< $@

SITE.tools := pbs_dataservice pbs_ds_password pbs_rcp pbs_setup pbs_snapshot
EXTRA += $(SITE.tools:%=$(B)/sbin/%)
$(SITE.tools:%=$(B)/sbin/%): $(B)/sbin/%: site/%
	@install -D -m 0755 $< $@

SITE.commands := pbs_config mpiexec pbs_mpirun pbs_python qtop pbs_remsh pbsrun pbsrun_wrap
EXTRA += $(SITE.commands:%=$(B)/bin/%)
$(SITE.commands:%=$(B)/bin/%): $(B)/bin/%: site/%
	@install -D -m 0755 $< $@

# One script by several names.
EXTRA += $(B)/bin/pbsrun_unwrap
$(B)/bin/pbsrun_unwrap: site/pbsrun_wrap
	@install -D -m 0755 $< $@

SITE.elsewhere := $(addprefix $(B)/bin/,pbs_lamboot pbs_login pbs_mpihp pbs_mpilam pbs_tclsh pbs_wish) \
  $(addprefix $(B)/sbin/,pbs_demux pbs_iff pbs_interactive)
EXTRA += $(SITE.elsewhere)
$(SITE.elsewhere): site/pbs_elsewhere
	@install -D -m 0755 $< $@

SITE.etc := $(notdir $(wildcard site/etc/*))
EXTRA += $(SITE.etc:%=$(B)/etc/%)
$(B)/etc/%: site/etc/%
	@install -D -m 0644 $< $@

# Names of the built-in resources that users may ask for, for completion.
EXTRA += $(B)/etc/pbs_resources
$(B)/etc/pbs_resources: ifl/def/resource.def
	@mkdir -p $(@D)
	@sed -n 's/^RESOURCE(\([a-z_]*\),.*RESC_ANYONE,.*/\1/p' $< > $@

EXTRA += $(B)/etc/pbs_sched_config
$(B)/etc/pbs_sched_config: $(B)/sbin/pbs_sched
	@mkdir -p $(@D)
	@$< --print-config > $@
