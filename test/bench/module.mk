# What measures libpbs from outside: linked with libpbs.so and the public headers, as a stranger's program is.
$(call storey, test/bench, )
$(call program, test/bench/ifl_load, test/bench/ifl_load.c,, -L$(B)/lib -Wl$(comma)-rpath$(comma)'$$$$ORIGIN/../../lib' -lpbs -lpthread)
$(B)/test/bench/ifl_load: $(B)/lib/libpbs.so
# A victim that costs nothing, for the exactness of a grace.
$(call program, test/bench/warned, test/bench/warned.c,,)
# What a rule of choosing victims destroys: the scheduler's core alone, in virtual time.
$(call storey, test/bench/core, $(SCHED_ROOMS) ifl/spec base)
$(call program, test/bench/lost_work, $(wildcard test/bench/core/*.c), $(SCHED_ROOMS) ifl/spec base, -lm)
# What reservations cost a cycle.
$(call storey, test/bench/reserve, $(SCHED_ROOMS) ifl/spec base)
$(call program, test/bench/resv_cost, test/bench/reserve/resv_cost.c, $(SCHED_ROOMS) ifl/spec base, -lm)
