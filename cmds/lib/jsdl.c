/* Not an XML parser: only two tags and three escaped characters occur. Text outside a tag is passed through as it is. */
#include "jsdl.h"

#include <string.h>

#include "strbuf.h"

static const struct {
    char c;
    const char *entity;
} entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};

enum { N_ENTITIES = sizeof entities / sizeof entities[0] };

static void add_escaped(struct strbuf *out, const char *text)
{
    int i;

    for (; *text; text++) {
        for (i = 0; i < N_ENTITIES && entities[i].c != *text; i++)
            ;
        if (i < N_ENTITIES)
            strbuf_add(out, entities[i].entity);
        else
            strbuf_add_char(out, *text);
    }
}

int jsdl_add(struct strbuf *out, const char *tag, const char *text)
{
    strbuf_addf(out, "<jsdl-hpcpa:%s>", tag);
    add_escaped(out, text);
    return strbuf_addf(out, "</jsdl-hpcpa:%s>", tag);
}

static const char *add_plain_char(struct strbuf *out, const char *s)
{
    int i;

    for (i = 0; i < N_ENTITIES; i++)
        if (!strncmp(s, entities[i].entity, strlen(entities[i].entity))) {
            strbuf_add_char(out, entities[i].c);
            return s + strlen(entities[i].entity);
        }
    strbuf_add_char(out, *s);
    return s + 1;
}

int jsdl_plain(struct strbuf *out, const char *text)
{
    static const char open[] = "<jsdl-hpcpa:", close[] = "</jsdl-hpcpa:";
    const char *sep = "", *end;

    while (*text) {
        if (!strncmp(text, open, sizeof open - 1) && (end = strchr(text, '>'))) {
            strbuf_add(out, sep);
            sep = " ";
            text = end + 1;
        } else if (!strncmp(text, close, sizeof close - 1) && (end = strchr(text, '>'))) {
            text = end + 1;
        } else {
            text = add_plain_char(out, text);
        }
    }
    return strbuf_ok(out) ? 0 : -1;
}
