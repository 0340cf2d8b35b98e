$(call storey, server/store, server/fsm server/model ifl/spec ifl/def base/loop base)
$(call tests,  server/store, server/fsm server/model ifl/spec ifl/def base/loop base, -lsqlite3 -lpq -ljansson -lssl -lcrypto -lpthread -lm)
