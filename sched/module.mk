$(call storey, sched, sched/core ifl/spec base/loop base)
$(call program, sbin/pbs_sched, sched/main.c, \
  sched sched/core ifl/lib ifl/rpc ifl/spec ifl/def protocol base/loop base, \
  -ltirpc -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl)
$(call tests, sched, \
  sched/core ifl/lib ifl/rpc ifl/spec ifl/def protocol base/loop base, \
  -ltirpc -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl)
