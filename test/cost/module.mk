# A server that counts its steps, for test/pytest/ifl/test_cost_growth.py. Nothing else in it is as it is installed.
COUNTED := $(B)/counted
.PHONY: counted
counted: $(COUNTED)/steps.o
	@$(MAKE) --no-print-directory BUILD=$(COUNTED) CFLAGS="-O1 -w -fsanitize-coverage=trace-pc" HARDEN= SANITIZE= \
	  SANLINK=$(COUNTED)/steps.o $(COUNTED)/sbin/pbs_server
$(COUNTED)/steps.o: test/cost/steps.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CSTD) -O2 $(WARN) -c $< -o $@
