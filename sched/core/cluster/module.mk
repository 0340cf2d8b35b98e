$(call storey, sched/core/cluster, sched/core/policy sched/core ifl/spec base)
