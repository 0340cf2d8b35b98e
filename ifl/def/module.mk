$(call storey, ifl/def, base)
$(call tests,  ifl/def, base, -ljansson)
