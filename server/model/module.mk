$(call storey, server/model, ifl/spec ifl/def base)
$(call tests,  server/model, ifl/spec ifl/def base, -ljansson -lm)
