/* "scatter:excl:group=rack". See place.h.
 *
 * Words are taken in any order into the struct, where each part has one member: so a part that occurs twice is seen
 * when its member is already set. Two tables have the words, by enum, for both ways. */
#include "place.h"

#include <assert.h>
#include <strings.h>

#include "pbs_error.h"
#include "strbuf.h"

static const char *const arrangements[] = {"free", "pack", "scatter", "vscatter"};
static const char *const sharings[] = {"", "shared", "excl", "exclhost"};

static_assert(sizeof arrangements / sizeof arrangements[0] == PLACE_ARRANGEMENT_COUNT, "one word each");
static_assert(sizeof sharings / sizeof sharings[0] == PLACE_SHARING_COUNT, "one word each");

static int place_find(const char *const words[], int n, const char *word, size_t len)
{
    int i;

    for (i = 0; i < n; i++)
        if (len && strlen(words[i]) == len && !strncasecmp(words[i], word, len))
            return i;
    return -1;
}

static int twice(const char *what, const char *text, struct err *e)
{
    return err_set(e, PBSE_BADATVAL, "place=%s has more than one %s", text, what);
}

static int take_group(const char *text, const char *name, size_t n, struct place *p, struct err *e)
{
    if (*p->group)
        return twice("group=", text, e);
    if (!n || n >= sizeof p->group)
        return err_set(e, PBSE_BADATVAL, "place=%s: group= needs the name of one resource", text);
    memcpy(p->group, name, n);
    return 0;
}

static int place_take_word(const char *text, const char *word, size_t n, struct place *p, struct err *e)
{
    int a = place_find(arrangements, PLACE_ARRANGEMENT_COUNT, word, n);
    int s = place_find(sharings, PLACE_SHARING_COUNT, word, n);

    if (n >= 6 && !strncasecmp(word, "group=", 6))
        return take_group(text, word + 6, n - 6, p, e);
    if (a >= 0) {
        if (p->arranged)
            return twice("of free, pack, scatter, vscatter", text, e);
        p->arrangement = (enum place_arrangement)a;
        p->arranged = true;
        return 0;
    }
    if (s < 0)
        return err_set(
            e, PBSE_BADATVAL,
            "place=%s: \"%.*s\" is not one of free, pack, scatter, vscatter, excl, exclhost, shared, group=",
            text, (int)n, word);
    if (p->sharing != PLACE_UNSAID)
        return twice("of excl, exclhost, shared", text, e);
    p->sharing = (enum place_sharing)s;
    return 0;
}

int place_parse(const char *text, struct place *out, struct err *e)
{
    struct place p = {0};
    const char *word = text;

    for (;;) {
        const char *end = strchrnul(word, ':');

        if (place_take_word(text, word, (size_t)(end - word), &p, e) < 0)
            return -1;
        if (!*end)
            break;
        word = end + 1;
    }
    *out = p;
    return 0;
}
