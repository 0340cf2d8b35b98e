# Pages that are lists are made from the tables of ifl/ by a program of the build; the others are in doc/man.
MANUAL.tables := man7/pbs_job_attributes.7 man7/pbs_queue_attributes.7 man7/pbs_server_attributes.7 \
                 man7/pbs_node_attributes.7 man7/pbs_sched_attributes.7 man7/pbs_hold_attributes.7 man7/pbs_resources.7 man7/pbs_exit_status.7 \
                 man7/pbs_states.7 man7/pbs_comments.7 man5/pbs.conf.5 man5/pbs_sched_config.5 man5/pbs_mom_config.5
MANUAL.storeys := ifl/spec ifl/def base

# The daemons' storeys are seen for their tables (.def) and linked to nothing.
$(call storey,  doc/generator, $(MANUAL.storeys) sched sched/core/cluster mom/mom/node)
$(call program, tool/manual, doc/generator/main.c, doc/generator $(MANUAL.storeys), -ljansson)

# Both kinds come together below share/man, so that man -M build/share/man finds them all.
define manual_section
EXTRA += $(patsubst doc/man/%,$(B)/share/man/man$(1)/%,$(wildcard doc/man/*.$(1)))
$(B)/share/man/man$(1)/%.$(1): doc/man/%.$(1)
	@install -D -m 0644 $$< $$@
endef
$(foreach s,1 3 5 7 8,$(eval $(call manual_section,$(s))))

# A page of the library describes several calls; each other name in its NAME section gets a page that points to it.
EXTRA += $(B)/share/man/man3/.names
$(B)/share/man/man3/.names: $(patsubst doc/man/%,$(B)/share/man/man3/%,$(wildcard doc/man/*.3))
	@for page in $(^F:%.3=%); do \
	    sed -n "s/^\.Nm \([a-z_]*\).*/\1/p; /^\.Nd/q" $(@D)/$$page.3 | grep -vx "$$page" | while read -r name; do \
	        test -e doc/man/$$name.3 || echo ".so man3/$$page.3" > $(@D)/$$name.3; \
	    done; \
	done; touch $@

EXTRA += $(MANUAL.tables:%=$(B)/share/man/%)
$(MANUAL.tables:%=$(B)/share/man/%): $(B)/tool/manual
	@mkdir -p $(@D)
	@echo "  MAN  $(@F)"
	@$< $(@F) > $@
