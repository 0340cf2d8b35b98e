$(call storey, sim, ifl/exec ifl/rpc/loop ifl/rpc ifl/spec base/loop base)
$(call program, sbin/pbs_execsim, sim/main.c, \
  sim ifl/exec ifl/rpc/loop ifl/rpc/tls ifl/rpc ifl/spec protocol base/loop base, \
  -ltirpc -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl)
$(call tests,  sim, ifl/exec ifl/rpc ifl/spec protocol base, -ltirpc)
