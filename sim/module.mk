$(call storey, sim, ifl/exec ifl/rpc/loop ifl/rpc ifl/spec base/loop base)
$(call program, sbin/pbs_execsim, sim/main.c, \
  sim ifl/exec ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -lssl -lcrypto)
$(call tests,  sim, ifl/exec ifl/rpc ifl/spec protocol base, -ltirpc)

# pbs_sim, and the Python that it is made of.
STUDY.files := $(patsubst sim/%,%,$(wildcard sim/study/*.py))
EXTRA += $(STUDY.files:%=$(B)/lib/python/%) $(B)/sbin/pbs_sim
$(STUDY.files:%=$(B)/lib/python/%): $(B)/lib/python/%: sim/%
	@install -D -m 0644 $< $@
$(B)/sbin/pbs_sim: sim/study/pbs_sim
	@install -D -m 0755 $< $@
