$(call storey, server/queued, server/request server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base)
$(call tests,  server/queued, server/model ifl/spec ifl/def base, -ljansson -lm)
