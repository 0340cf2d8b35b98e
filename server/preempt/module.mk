$(call storey, server/preempt, server/run server/exec server/request server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc base/loop base)
$(call tests,  server/preempt, server/model ifl/spec ifl/def base, -ljansson -lm)
