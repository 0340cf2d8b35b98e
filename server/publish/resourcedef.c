/* The custom resources in a file. See resourcedef.h. */
#include "resourcedef.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "log.h"
#include "strbuf.h"
#include "value.h"

enum { TEXT_MAX = 1 << 20 };

static void add_line(struct strbuf *out, const struct resource *r)
{
    struct strbuf letters;

    strbuf_init(&letters, 64);
    resource_flags_format(r->flags, &letters);
    strbuf_addf(out, "%s type=%s", r->name, r->type->name);
    if (*strbuf_str(&letters))
        strbuf_addf(out, " flag=%s", strbuf_str(&letters));
    strbuf_add_char(out, '\n');
    strbuf_fini(&letters);
}

void resourcedef_write(const struct resource_table *t, const char *home)
{
    char path[PATH_MAX];
    struct strbuf text;
    struct err e = {0};

    snprintf(path, sizeof path, "%s/server_priv/resourcedef", home);
    strbuf_init(&text, TEXT_MAX);
    for (const struct resource *r = resource_next(t, NULL); r; r = resource_next(t, r))
        if (!r->builtin)
            add_line(&text, r);
    if (file_write_quick(AT_FDCWD, path, strbuf_str(&text), strlen(strbuf_str(&text)), 0644, &e) < 0)
        log_event(LOGC_FIL, LOGE_ERROR, "resourcedef", "%s", e.text);
    strbuf_fini(&text);
}
