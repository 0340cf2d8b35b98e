$(call storey, ifl/hook, ifl/spec base)
