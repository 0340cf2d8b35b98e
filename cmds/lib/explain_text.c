/* See explain_text.h. */
#include "explain_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "attrs.h"
#include "term_out.h"

const char *explain_text_of(const struct batch_status *b, const char *name, const char *resource)
{
    return b ? attrs_value(b->attribs, name, resource) : NULL;
}

long long explain_text_number(const struct batch_status *b, const char *name, const char *resource)
{
    const char *text = explain_text_of(b, name, resource);

    return text ? strtoll(text, NULL, 10) : 0;
}

void explain_text_line(int width, const char *label, const char *text)
{
    if (!text)
        return;
    printf("    %-*s ", width, label);
    term_out_text(stdout, text);
    putchar('\n');
}
