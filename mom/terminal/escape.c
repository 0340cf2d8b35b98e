/* Only the first byte can make the text longer (the tilde that an earlier piece ended with), so it is moved up by one and
 * read from there. */
#include "escape.h"

#include <string.h>

static bool ends_line(const struct escape *x, unsigned char c)
{
    return c == '\r' || c == '\n' || (c && memchr(x->enders, c, sizeof x->enders));
}

/* The byte behind a tilde at the beginning of a line; how many go to `out`. */
static size_t behind_tilde(struct escape *x, unsigned char c, unsigned char *out, enum escape_wish *wish)
{
    x->tilde = false;
    if (c == '.' || (c && c == x->suspend)) {
        *wish = c == '.' ? ESCAPE_LEAVE : ESCAPE_SUSPEND;
        return 0;
    }
    x->inside = !ends_line(x, c);
    out[0] = '~';
    out[1] = c;
    return c == '~' ? 1 : 2;
}

size_t escape_read(struct escape *x, unsigned char *bytes, size_t n, enum escape_wish *wish)
{
    const unsigned char *in = bytes + 1;
    size_t out = 0;

    *wish = ESCAPE_NOTHING;
    memmove(bytes + 1, bytes, n);
    for (size_t i = 0; i < n && *wish != ESCAPE_LEAVE; i++) {
        unsigned char c = in[i];

        if (x->tilde) {
            out += behind_tilde(x, c, bytes + out, wish);
        } else if (c == '~' && !x->inside) {
            x->tilde = true;
        } else {
            x->inside = !ends_line(x, c);
            bytes[out++] = c;
        }
    }
    return out;
}
