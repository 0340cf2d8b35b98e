$(call storey, sched/core/reserve, sched/core/order sched/core/place sched/core/cluster sched/core/policy sched/core ifl/spec base)
