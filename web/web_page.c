/* tools/embed writes the table from web/page: name, type, bytes, and an ETag from their SHA-256. */
#include "web_page.h"

#include <stddef.h>
#include <string.h>

#include "web_call.h"

struct web_page_file {
    const char *name, *type, *etag;
    const unsigned char *bytes;
    size_t n;
};
#include "web_page_files.h"

static void web_page_show(struct web_call *w, const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0) {
            web_call_constant(w, files[i].type, files[i].bytes, files[i].n, files[i].etag);
            return;
        }
    web_call_problem(w, 404, 0, "there is nothing at this path");
}

void web_page_index(struct web_call *w)
{
    web_page_show(w, "index.html");
}

void web_page_asset(struct web_call *w)
{
    web_page_show(w, w->id);
}
