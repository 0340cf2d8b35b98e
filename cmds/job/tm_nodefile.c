/* The file is read from its beginning: a command asks once. A host may be listed several times; the first line
 * counts. */
#include "tm_nodefile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HOST_LEN_MAX = 1024 };

/* "n1.site.org" and "n1" are the same host; "n1.a" and "n1.b" are not. */
static bool is_same(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");

    if (strcasecmp(a, b) == 0)
        return true;
    return (!a[n] || !b[strcspn(b, ".")]) && n == strcspn(b, ".") && strncasecmp(a, b, n) == 0;
}

int tm_nodefile_find(const char *host)
{
    const char *path = getenv("PBS_NODEFILE");
    FILE *f = path ? fopen(path, "re") : NULL;
    char line[HOST_LEN_MAX];
    int n = 0, found = -1;

    while (f && found < 0 && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (is_same(line, host))
            found = n;
        n++;
    }
    if (f)
        (void)fclose(f);
    return found;
}
