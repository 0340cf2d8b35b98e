$(call storey, sched/core, base)
$(call tests,  sched/core, base, -lm)
