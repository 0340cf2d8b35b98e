/* The whole text is read at once and cut in place. A "#" begins a comment anywhere, in quotes too. */
#include "sim_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "words.h"

enum { FILE_BYTES_MAX = 64 << 20 };

static int read_line(char *line, sim_file_fn *fn, void *context, struct err *e)
{
    char *comment = strchr(line, '#');
    struct words w;
    int rc;

    if (comment)
        *comment = '\0';
    words_init(&w);
    rc = words_parse(line, " \t\r", WORDS_QUOTES, &w, e);
    if (rc == 0 && w.n)
        rc = fn(context, &w, e);
    words_fini(&w);
    return rc;
}

int sim_file_read(const char *path, sim_file_fn *fn, void *context, struct err *e)
{
    char *text;
    unsigned number = 0;
    int rc = 0;

    if (file_read(AT_FDCWD, path, FILE_BYTES_MAX, &text, NULL, e) < 0)
        return err_prefix(e, "%s", path);
    for (char *line = text, *next; rc == 0 && line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        rc = read_line(line, fn, context, e);
    }
    free(text);
    return rc < 0 ? err_prefix(e, "%s, line %u", path, number) : 0;
}
