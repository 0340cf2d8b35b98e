$(call storey, base/loop, base)
$(call tests,  base/loop, base, -levent_core -levent_openssl -levent_pthreads -lssl -lcrypto -lpthread)
