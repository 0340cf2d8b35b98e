$(call storey, sched/core/order, sched/core/cluster sched/core/policy sched/core ifl/spec base)
