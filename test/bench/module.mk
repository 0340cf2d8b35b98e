# What measures libpbs from outside: linked with libpbs.so and the public headers, as a stranger's program is.
$(call storey, test/bench, )
$(call program, test/bench/ifl_load, test/bench/ifl_load.c,, -L$(B)/lib -Wl$(comma)-rpath$(comma)'$$$$ORIGIN/../../lib' -lpbs -lpthread)
$(B)/test/bench/ifl_load: $(B)/lib/libpbs.so
