$(call storey, ifl/def, ifl/spec base)
$(call tests,  ifl/def, ifl/spec base, -ljansson)
