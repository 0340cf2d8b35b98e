# Programs of administrators that read and write the store itself, with nothing of the running server but its model.
ADMIN.storeys := server/store server/fsm server/model ifl/spec ifl/def base/loop base
$(call program, sbin/pbs_store, server/admin/pbs_store.c, server/admin $(ADMIN.storeys), \
  -lsqlite3 -lpq -ljansson -lssl -lcrypto -lpthread -ldl -lm)

# The CA, on the server's host; and the joining end, on others.
$(call storey, server/admin, $(ADMIN.storeys) ifl/join ifl/rpc/tls ifl/rpc protocol, pbs_store.c pbs_keys.c)
$(call program, sbin/pbs_keys, server/admin/pbs_keys.c, ifl/join ifl/rpc/tls ifl/rpc ifl/spec protocol base, \
  -ltirpc -lssl -lcrypto -lpthread -ldl)
