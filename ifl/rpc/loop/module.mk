$(call storey, ifl/rpc/loop, ifl/rpc base/loop base)
$(call tests,  ifl/rpc/loop, ifl/rpc/tls ifl/rpc base/loop base, -ltirpc -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl)
ifl/rpc/loop.sees += ifl/rpc/tls
