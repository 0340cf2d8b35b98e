/* UTF-8 by the table of RFC 3629, section 4. See utf8.h. */
#include "utf8.h"

/* A row for each form of the first byte, with the bounds of the second that keep out longer forms and
 * surrogates. */
size_t utf8_length(const char *s, size_t n)
{
    static const struct {
        unsigned char mask, is, low, high; /* of the first byte; bounds of the second */
        unsigned char length;
    } form[] = {{0x80, 0x00, 0, 0, 1},       {0xe0, 0xc0, 0x80, 0xbf, 2}, {0xff, 0xe0, 0xa0, 0xbf, 3},
                {0xff, 0xed, 0x80, 0x9f, 3}, {0xf0, 0xe0, 0x80, 0xbf, 3}, {0xff, 0xf0, 0x90, 0xbf, 4},
                {0xff, 0xf4, 0x80, 0x8f, 4}, {0xfc, 0xf0, 0x80, 0xbf, 4}};
    const unsigned char *p = (const unsigned char *)s;

    for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
        if ((p[0] & form[i].mask) != form[i].is)
            continue;
        if (form[i].length > n || p[0] == 0xc0 || p[0] == 0xc1)
            return 0;
        if (form[i].length > 1 && (p[1] < form[i].low || p[1] > form[i].high))
            return 0;
        for (size_t k = 2; k < form[i].length; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return form[i].length;
    }
    return 0;
}
