$(call storey, sched, sched/core ifl/spec base/loop base)
