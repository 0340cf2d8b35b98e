# Programs that count their steps: a server for test/pytest/ifl/test_cost_growth.py, and the scheduler's core with the worlds of
# test/cost/sched. Nothing else in them is as it is installed. They are built in a tree of their own.
COUNTED := $(B)/counted
COUNT_STEPS = $(MAKE) --no-print-directory BUILD=$(COUNTED) CFLAGS="-O1 -w -fsanitize-coverage=trace-pc" HARDEN= SANITIZE= \
  SANLINK=$(COUNTED)/steps.o
.PHONY: counted
counted: $(COUNTED)/steps.o
	@$(COUNT_STEPS) $(COUNTED)/sbin/pbs_server
$(COUNTED)/steps.o: test/cost/steps.c test/cost/steps.h
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CSTD) -O2 $(WARN) -c $< -o $@

$(call storey, test/cost, ,steps.c)
$(call storey, test/cost/sched, test/cost $(SCHED_ROOMS) ifl/spec base)
$(call program, test/bench/sched_aims, test/cost/sched/aims.c test/cost/sched/crowd.c, $(SCHED_ROOMS) ifl/spec base, -lm)
$(call program, test/bench/foresee, test/cost/sched/foresee.c, $(SCHED_ROOMS) ifl/spec base, -lm)
PROGRAMS_BEFORE := $(PROGRAMS)
$(call program, test/cost/sched_growth, test/cost/sched/sched_growth.c test/cost/sched/crowd.c, $(SCHED_ROOMS) ifl/spec base, -lcmocka -lm)
$(call program, test/cost/sched_curves, test/cost/sched/curves.c test/cost/sched/crowd.c, $(SCHED_ROOMS) ifl/spec base, -lm)
PROGRAMS := $(PROGRAMS_BEFORE)
TESTS += $(COUNTED)/test/cost/sched_growth
COUNTED_PROGRAMS := $(addprefix $(COUNTED)/test/cost/,sched_growth sched_curves)
.PHONY: $(COUNTED_PROGRAMS)
$(COUNTED_PROGRAMS): $(COUNTED)/steps.o
	@$(COUNT_STEPS) $@
