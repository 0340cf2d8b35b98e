$(call storey, server/request, server/model ifl/spec ifl/def ifl/rpc/loop ifl/rpc base/loop base)
