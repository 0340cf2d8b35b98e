/* See json_read.h. jansson has bounds of its own (2048 levels) and is not told of smaller ones, so json_check looks first. */
#include "json_read.h"

#include "err.h"
#include "json_check.h"

/* The place in lines and columns, as editors count them. */
static void json_read_refuse(struct err *e, const char *text, size_t at, const char *fault)
{
    size_t line = 1, column = 1;

    for (size_t i = 0; i < at; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    err_set(e, EINVAL, "line %zu, column %zu: %s", line, column, fault);
}

json_t *json_read(const char *text, size_t n, size_t max, struct err *e)
{
    const char *fault;
    json_error_t why;
    json_t *v;
    size_t at;

    if (n > max) {
        err_set(e, E2BIG, "it has %zu bytes, at most %zu are read", n, max);
        return NULL;
    }
    fault = json_check_fault(text, n, &at);
    if (fault) {
        json_read_refuse(e, text, at, fault);
        return NULL;
    }
    v = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (!v && json_error_code(&why) == json_error_out_of_memory)
        err_no_memory(e);
    else if (!v)
        err_set(e, EINVAL, "line %d, column %d: %.200s", why.line, why.column, why.text);
    return v;
}

json_t *json_read_own(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

json_t *json_read_value(const char *text, size_t n)
{
    return json_loadb(text, n, JSON_DECODE_ANY, NULL);
}
