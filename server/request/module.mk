$(call storey, server/request, server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base)
$(call tests,  server/request, server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base protocol, -ljansson -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
