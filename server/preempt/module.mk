$(call storey, server/preempt, server/run server/exec server/request server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc base/loop base)
