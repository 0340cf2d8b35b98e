# Random input for decoders and parsers; `make check` runs it, `build/test/fuzz -n RUNS -s SEED [NAME]` for longer.
FUZZ.storeys := server/model mom/host cmds/admin cmds/job cmds/lib ifl/spec ifl/def ifl/rpc base
FUZZ.libs := -ljansson -ltirpc -lpthread -ldl -lm

$(call storey, test/fuzz, $(FUZZ.storeys), fuzz_main.c fuzz_libfuzzer.c)
CPPFLAGS.test/fuzz := -UNDEBUG
$(B)/obj/test/fuzz/fuzz_wire.o: $(GEN)/messages.def
$(GEN)/messages.def: $(wildcard ifl/protocol/*.x)
	@mkdir -p $(@D)
	@sed -n 's/^struct \([a-z_]*\(_args\|_result\|_order\|_record\|_entry\|_event\|_letter\|_answer\)\) {.*/MESSAGE(\1)/p; s/^union \([a-z_]*\) switch.*/MESSAGE(\1)/p' $^ > $@

$(call program, test/fuzz, test/fuzz/fuzz_main.c, test/fuzz $(FUZZ.storeys) protocol, $(FUZZ.libs))
PROGRAMS := $(filter-out $(B)/test/fuzz,$(PROGRAMS))
TESTS += $(B)/test/fuzz

# The same table under libFuzzer, where clang builds (make fuzz-libfuzzer).
$(call program, test/fuzz_libfuzzer, test/fuzz/fuzz_libfuzzer.c, test/fuzz $(FUZZ.storeys) protocol, $(FUZZ.libs) -fsanitize=fuzzer)
PROGRAMS := $(filter-out $(B)/test/fuzz_libfuzzer,$(PROGRAMS))
