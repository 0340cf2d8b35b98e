$(call storey, server/run, server/queued server/exec server/request server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc base/loop base)
$(call tests,  server/run, ifl/spec ifl/def base, -ljansson -lm)
