$(call storey, base,)
$(call tests,  base,,-lm)
