$(call storey, ifl/spec, base)
$(call tests,  ifl/spec, base,)
