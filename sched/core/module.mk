# Decisions without I/O and without a clock. The rooms, top down: each sees only those behind it; tests see all of them.
SCHED_ROOMS := $(addprefix sched/core/,scenario cycle preempt reserve order place cluster policy) sched/core
$(call storey, sched/core, ifl/spec base)
$(foreach room,$(SCHED_ROOMS),$(call tests, $(room), $(SCHED_ROOMS) ifl/spec base, -lm))
