# Conversations of several programs with the server's real handlers, at random; `make check` has a short one,
# `make fuzz-long` runs for hours, `build/test/conversation -s SEED -n STEPS` plays one again.
TALK.storeys := server $(SERVER_STOREYS)

$(call storey, test/conversation, $(filter-out protocol, $(TALK.storeys)))
CPPFLAGS.test/conversation := -UNDEBUG
$(call program, test/conversation, $(wildcard test/conversation/*.c), $(TALK.storeys), \
  -lsqlite3 -lpq -ljansson -lical -ltirpc -lssl -lcrypto -lpthread -ldl -lm)
PROGRAMS := $(filter-out $(B)/test/conversation,$(PROGRAMS))
TESTS += $(B)/test/conversation
