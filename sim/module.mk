$(call storey, sim, ifl/exec ifl/rpc/loop ifl/rpc ifl/spec base/loop base)
$(call program, sbin/pbs_execsim, sim/main.c, \
  sim ifl/exec ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -lssl -lcrypto)
$(call tests,  sim, ifl/exec ifl/rpc ifl/spec protocol base, -ltirpc)
