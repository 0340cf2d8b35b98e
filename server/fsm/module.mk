$(call storey, server/fsm, server/model ifl/spec ifl/def base)
$(call tests,  server/fsm, server/model ifl/spec ifl/def base, -ljansson -lm)
