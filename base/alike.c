/* The usual table of distances (restricted Damerau-Levenshtein), three rows of it at a time. See alike.h. */
#include "alike.h"

#include <ctype.h>
#include <string.h>

/* LONGEST: names of attributes, options and resources are shorter. LONG_WORD: from here on two mistakes are likely one word. */
enum { LONGEST = 64, LONG_WORD = 6 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool alike_is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Steps from a to b; row[i % 3][k] are those from the first i letters of a to the first k of b. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
    int row[3][LONGEST + 1];

    for (size_t k = 0; k <= m; k++)
        row[0][k] = (int)k;
    for (size_t i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i - 1) % 3], *before = row[(i + 1) % 3];

        now[0] = (int)i;
        for (size_t k = 1; k <= m; k++) {
            now[k] = least(last[k], now[k - 1]) + 1;
            now[k] = least(now[k], last[k - 1] + !alike_is_same(a[i - 1], b[k - 1]));
            if (i > 1 && k > 1 && alike_is_same(a[i - 1], b[k - 2]) && alike_is_same(a[i - 2], b[k - 1]))
                now[k] = least(now[k], before[k - 2] + 1);
        }
    }
    return row[n % 3][m];
}

/* Words of two letters are like too many others. */
bool alike_is(const char *said, const char *known)
{
    size_t n = strlen(said), m = strlen(known);

    if (n < 3 || m < 3 || n > LONGEST || m > LONGEST)
        return false;
    return distance(said, n, known, m) <= (n < LONG_WORD ? 1 : 2);
}
