$(call storey, sched/core, ifl/spec base)
$(call tests,  sched/core, ifl/spec base, -lm)
