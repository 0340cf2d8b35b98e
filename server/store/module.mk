$(call storey, server/store, server/fsm server/model ifl/spec ifl/def base/loop base)
$(call tests,  server/store, server/fsm server/model ifl/spec ifl/def base/loop base, -lsqlite3 -lpq -ljansson -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread -lm)
