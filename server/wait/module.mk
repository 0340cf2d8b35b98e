$(call storey, server/wait, server/request server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base)
$(call tests,  server/wait, server/model ifl/spec ifl/def base, -ljansson -lm)
