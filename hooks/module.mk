# The package `pbs` that hook scripts import, and `hookrun`, which runs them. Both come together below lib/python. Their
# tables are printed by a program of the build from those of ifl/.
HOOKS.storeys := ifl/def ifl/spec base
$(call storey,  hooks, $(HOOKS.storeys))
$(call program, tool/pbs_tables, hooks/main.c, hooks $(HOOKS.storeys), -ljansson)

HOOKS.files := $(patsubst hooks/%,%,$(wildcard hooks/pbs/*.py hooks/hookrun/*.py))
EXTRA += $(HOOKS.files:%=$(B)/lib/python/%) $(B)/lib/python/pbs/tables.py
$(HOOKS.files:%=$(B)/lib/python/%): $(B)/lib/python/%: hooks/%
	@install -D -m 0644 $< $@

# Built-in hooks (pbshook), which the server reads at its start.
HOOKS.builtin := $(patsubst hooks/builtin/%,$(B)/lib/pbs_hooks/%,$(wildcard hooks/builtin/PBS*))
EXTRA += $(HOOKS.builtin)
$(HOOKS.builtin): $(B)/lib/pbs_hooks/%: hooks/builtin/%
	@install -D -m 0644 $< $@

$(B)/lib/python/pbs/tables.py: $(B)/tool/pbs_tables
	@mkdir -p $(@D)
	@$< > $@
