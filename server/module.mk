SERVER_STOREYS := server/handlers server/hook server/publish server/resv server/preempt server/run server/queued server/exec server/request server/store \
                  server/fsm server/model ifl/hook/loop ifl/hook ifl/spec ifl/def ifl/rpc/loop ifl/rpc/tls ifl/rpc base/loop base protocol
$(call storey, server, $(filter-out protocol, $(SERVER_STOREYS)))
$(call program, sbin/pbs_server, server/main.c, server $(SERVER_STOREYS), \
  -lsqlite3 -lpq -ljansson -lical -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
