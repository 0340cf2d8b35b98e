/* Texts of PBS as JSON. See hook_json.h.
 *
 * A text of PBS is bytes, JSON is UTF-8: base/json_text.h writes bytes that are not UTF-8 so that they can be restored,
 * here and by the worker. Every text from or to a worker goes through these functions. */
#include "hook_json.h"

#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "json_read.h"
#include "json_text.h"
#include "strbuf.h"

json_t *hook_json_text_n(const char *bytes, size_t n)
{
    struct strbuf json;
    json_t *v = NULL;

    strbuf_init(&json, 6 * n + 16);
    if (json_text_add_n(&json, bytes, n) == 0)
        v = json_read_value(strbuf_str(&json), json.len);
    strbuf_fini(&json);
    return v;
}

json_t *hook_json_text(const char *text)
{
    return text ? hook_json_text_n(text, strlen(text)) : json_null();
}

char *hook_json_bytes(const json_t *v)
{
    char *text = json_is_string(v) ? strdup(json_string_value(v)) : NULL;

    if (text)
        json_text_restore(text);
    return text;
}

int hook_json_put(json_t *attrs, const char *name, const char *resource, const char *value)
{
    json_t *of = attrs, *v = value ? hook_json_text(value) : NULL;

    if (value && !v)
        return -1;
    if (resource && *resource) {
        of = json_object_get(attrs, name);
        if (!json_is_object(of)) {
            of = json_object();
            if (json_object_set_new(attrs, name, of) < 0) {
                json_decref(v);
                return -1;
            }
        }
        name = resource;
    }
    if (v)
        return json_object_set_new(of, name, v);
    json_object_del(of, name);
    return 0;
}

json_t *hook_json_conf(const struct conf *conf)
{
    json_t *all = json_object();

    for (int k = 0; all && k < CONF_KEY_COUNT; k++) {
        const char *text = conf_text(conf, (enum conf_key)k);

        if (text)
            hook_json_put(all, conf_row((enum conf_key)k)->name, NULL, text);
    }
    return all;
}
