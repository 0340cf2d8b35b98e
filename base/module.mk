$(call storey, base,)
$(call tests,  base,,-ljansson -lm)
