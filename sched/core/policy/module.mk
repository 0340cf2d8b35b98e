$(call storey, sched/core/policy, sched/core ifl/spec base)
