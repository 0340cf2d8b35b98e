$(call storey, sched/core/place, sched/core/cluster sched/core/policy sched/core ifl/spec base)
