$(call storey, server/request, server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base)
$(call tests,  server/request, server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base protocol, -ljansson -ltirpc -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl -lm)
