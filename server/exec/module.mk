$(call storey, server/exec, server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base)
$(call tests,  server/exec, server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base protocol, -lsqlite3 -lpq -ljansson -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
