/* See term_width.h. */
#include "term_width.h"

#include <stdbool.h>
#include <sys/ioctl.h>

size_t term_width(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* One character more or less; false: the column is at its end. */
static bool step(const struct term_column *c, bool wider)
{
    if (wider ? *c->width >= c->most : *c->width <= c->least)
        return false;
    *c->width += wider ? 1 : -(size_t)1;
    return true;
}

void term_share(size_t line, size_t room, const struct term_column *c, size_t n)
{
    const bool wider = line < room;
    size_t left = wider ? room - line : line - room;
    bool moved = room > 0;

    while (left && moved) {
        moved = false;
        for (size_t i = 0; i < n && left; i++)
            if (step(&c[i], wider)) {
                moved = true;
                left--;
            }
    }
}
