#ifndef HOOK_JSON_H
#define HOOK_JSON_H
/* Texts and attributes in the JSON of the hook protocol (doc/internals/hook-protocol.md, 2 and 5). Any thread. */
#include <jansson.h>

struct conf;

/* A text of PBS, which need not be UTF-8, as a new JSON string; of a text that is NULL the JSON null. NULL: no memory. And back, the
 * same bytes: heap, or NULL where v is not a string or there is no memory. */
json_t *hook_json_text(const char *text);
json_t *hook_json_text_n(const char *bytes, size_t n);
char *hook_json_bytes(const json_t *v);

/* Put one attribute into an `attrs`; value NULL removes it. With a resource (not NULL, not "") it is a member of the attribute's own
 * object, which is made where there is none. -1: no memory. */
int hook_json_put(json_t *attrs, const char *name, const char *resource, const char *value);

/* The keys of pbs.conf that have a value, as scripts read them (pbs.conf). NULL: no memory. */
json_t *hook_json_conf(const struct conf *conf);

#endif
