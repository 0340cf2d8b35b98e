/* A command line, written over the one that this process was started with. See shep_title.h. */
#include "shep_title.h"

#include <stddef.h>
#include <string.h>

/* Of the process, as what it describes. */
static struct {
    char *first;
    size_t room; /* with the zero behind the last argument */
} shep_title;

void shep_title_keep(char *argv[])
{
    char *last = argv[1];

    for (size_t i = 1; argv[i]; i++)
        last = argv[i] + strlen(argv[i]);
    shep_title.first = argv[1];
    shep_title.room = (size_t)(last - argv[1]) + 1;
}

/* One argument more from `at` on. Return where the next one begins; the last zero always stays. */
static size_t shep_title_add(size_t at, const char *word)
{
    size_t n = strlen(word);

    if (at + 1 >= shep_title.room)
        return shep_title.room;
    if (n > shep_title.room - 1 - at)
        n = shep_title.room - 1 - at;
    memcpy(shep_title.first + at, word, n);
    return at + n + 1;
}

void shep_title_set(const char *path, const char *state)
{
    size_t at = 0;
    char copy[4096]; /* `path` may be what is written over */

    if (shep_title.room < sizeof "hold")
        return;
    (void)stpncpy(copy, path, sizeof copy - 1);
    copy[sizeof copy - 1] = '\0';
    memset(shep_title.first, 0, shep_title.room);
    at = shep_title_add(at, "hold");
    at = shep_title_add(at, copy);
    if (*state)
        (void)shep_title_add(at, state);
}
