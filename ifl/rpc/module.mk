$(call storey, ifl/rpc, base)
$(call tests,  ifl/rpc, base, -ltirpc -lpthread -ldl)
