$(call storey, ifl/hook, base)
