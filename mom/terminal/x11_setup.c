/* byte order (B or l), unused, major, minor (2 each), length of name, of data (2 each), unused (2), name, data; both of these are
 * filled up to four bytes (X protocol, "Connection Setup"). */
#include "x11_setup.h"

#include <string.h>

#include <openssl/crypto.h>

static const char protocol[] = "MIT-MAGIC-COOKIE-1";

enum { HEAD = 12, NAME_LENGTH_AT = 6, DATA_LENGTH_AT = 8, NAME = sizeof protocol - 1 };

static size_t number_at(const unsigned char *bytes, size_t at)
{
    return bytes[0] == 'B' ? (size_t)bytes[at] << 8 | bytes[at + 1] : (size_t)bytes[at + 1] << 8 | bytes[at];
}

static size_t filled(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

static void leave_out(unsigned char *bytes, size_t *n, size_t whole)
{
    memset(bytes + NAME_LENGTH_AT, 0, 4);
    memmove(bytes + HEAD, bytes + whole, *n - whole);
    *n -= whole - HEAD;
}

int x11_setup_admit(const struct x11_cookies *c, unsigned char *bytes, size_t *n)
{
    const size_t data = HEAD + filled(NAME), whole = data + filled(X11_COOKIE_SIZE);

    if (*n && bytes[0] != 'B' && bytes[0] != 'l')
        return -1;
    if (*n < HEAD)
        return 0;
    if (number_at(bytes, NAME_LENGTH_AT) != NAME || number_at(bytes, DATA_LENGTH_AT) != X11_COOKIE_SIZE)
        return -1;
    if (*n < whole)
        return 0;
    if (memcmp(bytes + HEAD, protocol, NAME) != 0 ||
        CRYPTO_memcmp(bytes + data, c->shown, X11_COOKIE_SIZE) != 0)
        return -1;
    if (c->has_real)
        memcpy(bytes + data, c->real, X11_COOKIE_SIZE);
    else
        leave_out(bytes, n, whole);
    return 1;
}
