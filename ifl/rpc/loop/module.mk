$(call storey, ifl/rpc/loop, ifl/rpc/tls ifl/rpc base/loop base)
$(call tests,  ifl/rpc/loop, ifl/rpc/tls ifl/rpc base/loop base, -ltirpc -lssl -lcrypto -lpthread -ldl)
$(B)/test/ifl/rpc/loop/rpc_server_test: | $(B)/lib/libauth_tls.so
