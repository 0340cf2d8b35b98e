$(call storey, base/loop, base)
$(call tests,  base/loop, base, -lssl -lcrypto -lpthread)
