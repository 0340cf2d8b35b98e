#ifndef HOOK_EVENT_H
#define HOOK_EVENT_H
/* The events at which hooks run: names, bits, and who runs them. Constant; any thread. */
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "strbuf.h"

#define EVENT(name, bit, where) HOOK_EVENT_##name = bit,
enum hook_event_bit {
#include "hook_event.def"
};
#undef EVENT

/* The daemon that runs its hooks; an event of NOWHERE has a name, so that it can be refused by name. */
enum hook_event_where { HOOK_AT_SERVER, HOOK_AT_HOST, HOOK_AT_NOWHERE };

struct hook_event {
    const char *name;
    uint32_t bit; /* as in PBS's module `pbs`: scripts compare with it */
    enum hook_event_where where;
};

extern const struct hook_event hook_events[]; /* in the order in which lists show them */
extern const size_t hook_events_count;

/* The event of a name of n characters, or of one bit; NULL: there is none. */
const struct hook_event *hook_event_find(const char *name, size_t n);
const struct hook_event *hook_event_of(uint32_t bit);

/* "queuejob,runjob"; nothing for 0. */
void hook_events_format(uint32_t events, struct strbuf *out);
/* And back; words that name no event are left out, NULL is 0. */
uint32_t hook_events_parse(const char *text);
/* All names, with commas: for messages. */
void hook_events_all(struct strbuf *out);

#endif
