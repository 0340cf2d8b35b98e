# Programs of administrators that read and write the store itself, with nothing of the running server but its model.
ADMIN.storeys := server/store server/fsm server/model ifl/spec ifl/def base/loop base
$(call storey, server/admin, $(ADMIN.storeys), pbs_store.c)
$(call program, sbin/pbs_store, server/admin/pbs_store.c, server/admin $(ADMIN.storeys), \
  -lsqlite3 -lpq -ljansson -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -ldl -lm)
