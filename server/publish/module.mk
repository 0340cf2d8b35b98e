$(call storey, server/publish, server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc base/loop base)
$(call tests,  server/publish, server/store server/fsm server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base protocol, -lsqlite3 -lpq -ljansson -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
