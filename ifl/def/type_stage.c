/* Files to stage, checked word by word. See type_stage.h.
 *
 * The value is an ordinary list of words; only its parser is stricter, and all else is that of
 * string_array. A word is cut at its first @ and the first colon behind it, so the remote path may hold
 * both. */
#include "type_stage.h"

#include <string.h>

#include "errors.h"
#include "type_list.h"

int stage_parse(const char *word, size_t n, struct stage_pair *out, struct err *e)
{
    const char *at = memchr(word, '@', n), *end = word + n;
    const char *colon = at ? memchr(at, ':', (size_t)(end - at)) : NULL;

    if (!colon || at == word || colon == at + 1 || colon + 1 == end)
        return errors_set(e, PBSE_BADATVAL, "'%.*s' is not a file to stage: local_path@host:remote_path",
                          (int)(n > 80 ? 80 : n), word);
    *out = (struct stage_pair){.local = word,
                               .host = at + 1,
                               .remote = colon + 1,
                               .local_len = (size_t)(at - word),
                               .host_len = (size_t)(colon - at - 1),
                               .remote_len = (size_t)(end - colon - 1)};
    return 0;
}

static int type_stage_value_parse(const struct value_type *t, const char *text, struct value *out,
                                  struct err *e)
{
    const char *p = text, *w;
    struct stage_pair pair;
    size_t n;

    while ((w = list_next(&p, &n))) {
        if (stage_parse(w, n, &pair, e) < 0)
            return -1;
    }
    return type_string_array.parse(t, text, out, e);
}

static int type_stage_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return type_string_array.format(t, v, out);
}

static int type_stage_incr(const struct value_type *t, struct value *v, const struct value *by, struct err *e)
{
    return type_string_array.incr(t, v, by, e);
}

static int type_stage_decr(const struct value_type *t, struct value *v, const struct value *by, struct err *e)
{
    return type_string_array.decr(t, v, by, e);
}

static int type_stage_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return type_string_array.compare(t, a, b);
}

const struct value_type type_stage = {.name = "stage list",
                                      .number = 4,
                                      .form = "must be local_path@host:remote_path, comma separated",
                                      .parse = type_stage_value_parse,
                                      .format = type_stage_format,
                                      .incr = type_stage_incr,
                                      .decr = type_stage_decr,
                                      .compare = type_stage_compare,
                                      .dup = value_dup,
                                      .free = value_free,
                                      .to_json = value_to_json_text,
                                      .from_json = value_from_json_text};
