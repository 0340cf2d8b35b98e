$(call storey, server/resv, server/preempt server/run server/queued server/exec server/request server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc base/loop base)
$(call tests,  server/resv, server/model ifl/spec ifl/def base, -ljansson -lical -lm)
