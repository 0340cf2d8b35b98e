$(call storey, server/hook, server/publish server/queued server/exec server/request server/store server/fsm server/model ifl/hook/loop ifl/hook ifl/spec ifl/def ifl/rpc/loop ifl/rpc base/loop base)
