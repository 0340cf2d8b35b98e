#include "web_body.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "json_read.h"
#include "json_text.h"
#include "web_call.h"
#include "web_route.h"

enum { MEMBER_SHOWN = 64 };

static const struct web_param *web_body_row(const struct web_param *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name ? rows : NULL;
}

static bool web_body_is(const json_t *v, enum web_type type)
{
    switch (type) {
    case WEB_TEXT:
        return json_is_string(v);
    case WEB_NUMBER:
        return json_is_integer(v);
    case WEB_FLAG:
        return json_is_boolean(v);
    case WEB_OBJECT:
        return json_is_object(v);
    }
    return false;
}

static bool web_body_check(struct web_call *w, json_t *body)
{
    static const char *const types[] = {"a text", "a number", "true or false", "an object"};
    const struct web_param *row;
    const char *name;
    json_t *v;

    json_object_foreach(body, name, v)
    {
        row = web_body_row(w->route->body, name);
        if (!row)
            web_call_problem(w, 400, 0, "%.*s is not a member of this request", MEMBER_SHOWN, name);
        else if (!web_body_is(v, row->type))
            web_call_problem(w, 400, 0, "%s is %s", name, types[row->type]);
        else
            continue;
        return false;
    }
    for (row = w->route->body; row->name; row++)
        if (row->needed && !json_object_get(body, row->name)) {
            web_call_problem(w, 400, 0, "%s is missing: %s", row->name, row->meaning);
            return false;
        }
    return true;
}

/* Texts as PBS has them: an answer shows a byte that is not UTF-8 as json_text.h says, and a body that repeats it means it. */
static void web_body_restore(json_t *v)
{
    char *text =
        json_is_string(v) && strstr(json_string_value(v), "\xf4\x8f") ? strdup(json_string_value(v)) : NULL;
    const char *name;
    json_t *member;
    size_t i;

    if (text)
        json_string_setn_nocheck(v, text, json_text_restore(text));
    free(text);
    json_object_foreach(v, name, member) web_body_restore(member);
    json_array_foreach(v, i, member) web_body_restore(member);
}

json_t *web_body_read(struct web_call *w)
{
    struct err why;
    json_t *body = w->n_body ? json_read(w->body, w->n_body, WEB_BODY_MAX, &why) : json_object();

    if (!body && w->n_body)
        web_call_problem(w, 400, 0, "the body is not JSON: %s", why.text);
    else if (!body)
        web_call_problem(w, 503, 0, "no memory");
    else if (!json_is_object(body))
        web_call_problem(w, 400, 0, "the body is to be a JSON object");
    else if (web_body_check(w, body)) {
        web_body_restore(body);
        return body;
    }
    json_decref(body);
    return NULL;
}
