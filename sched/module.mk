# pbsfs reads and writes the files that the scheduler keeps; it is a program of its own.
$(call storey, sched, $(SCHED_ROOMS) ifl/spec base/loop base, pbsfs.c)
$(call program, sbin/pbs_sched, sched/main.c, \
  sched $(SCHED_ROOMS) ifl/lib ifl/rpc ifl/spec ifl/def protocol base/loop base, \
  -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
$(call program, sbin/pbsfs, sched/pbsfs.c, \
  sched $(SCHED_ROOMS) ifl/lib ifl/rpc ifl/spec ifl/def protocol base/loop base, \
  -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
$(call tests, sched, \
  $(SCHED_ROOMS) ifl/lib ifl/rpc ifl/spec ifl/def protocol base/loop base, \
  -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
