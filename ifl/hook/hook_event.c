/* The table of events. See hook_event.h. */
#include "hook_event.h"

#include <string.h>

#define EVENT(name, bit, where) {#name, bit, HOOK_AT_##where},
const struct hook_event hook_events[] = {
#include "hook_event.def"
};
#undef EVENT
const size_t hook_events_count = sizeof hook_events / sizeof hook_events[0];

const struct hook_event *hook_event_find(const char *name, size_t n)
{
    for (size_t i = 0; i < hook_events_count; i++)
        if (strlen(hook_events[i].name) == n && memcmp(hook_events[i].name, name, n) == 0)
            return &hook_events[i];
    return NULL;
}

const struct hook_event *hook_event_of(uint32_t bit)
{
    for (size_t i = 0; i < hook_events_count; i++)
        if (hook_events[i].bit == bit)
            return &hook_events[i];
    return NULL;
}

void hook_events_format(uint32_t events, struct strbuf *out)
{
    size_t from = out->len;

    for (size_t i = 0; i < hook_events_count; i++)
        if (events & hook_events[i].bit) {
            if (out->len > from)
                strbuf_add_char(out, ',');
            strbuf_add(out, hook_events[i].name);
        }
}

uint32_t hook_events_parse(const char *text)
{
    uint32_t events = 0;

    while (text && *text) {
        size_t n = strcspn(text, ",");
        const struct hook_event *ev = hook_event_find(text, n);

        events |= ev ? ev->bit : 0;
        text += n + (text[n] == ',');
    }
    return events;
}

void hook_events_all(struct strbuf *out)
{
    hook_events_format(UINT32_MAX, out);
}
