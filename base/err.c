/* What went wrong: see err.h. Text is made in a buffer of its own first, because the arguments may be the old
 * text. */
#include "err.h"

#undef err_set /* the functions themselves are defined here */
#undef err_errno
#undef err_prefix

/* Shorten to at most `max` bytes, without leaving half a UTF-8 character at the end. */
static void cut_at_character(char *text, size_t max)
{
    size_t len = strlen(text);
    size_t start = len;

    if (len < max)
        return;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xc0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (len - (start - 1) < want)
        text[start - 1] = '\0';
}

/* The new text is whole before the old one is written over, since an argument may be the old one. */
int err_vset(struct err *e, int code, const char *fmt, va_list ap)
{
    char text[ERR_TEXT_MAX];

    if (!e)
        return -1;
    if (vsnprintf(text, sizeof text, fmt, ap) < 0)
        text[0] = '\0';
    cut_at_character(text, sizeof text - 1);
    e->code = code;
    memcpy(e->text, text, strlen(text) + 1);
    return -1;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return -1;
}

/* strerror_r of GNU, which returns the text. */
int err_errno(struct err *e, int errnum, const char *fmt, ...)
{
    char what[ERR_TEXT_MAX];
    char buffer[128];
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(what, sizeof what, fmt, ap) < 0)
        what[0] = '\0';
    va_end(ap);
    return err_set(e, errnum, "%s: %s", what, strerror_r(errnum, buffer, sizeof buffer));
}

int err_prefix(struct err *e, const char *fmt, ...)
{
    char context[ERR_TEXT_MAX];
    va_list ap;

    if (!e)
        return -1;
    va_start(ap, fmt);
    if (vsnprintf(context, sizeof context, fmt, ap) < 0)
        context[0] = '\0';
    va_end(ap);
    return err_set(e, e->code, "%s: %s", context, e->text);
}

void err_clear(struct err *e)
{
    if (!e)
        return;
    e->code = 0;
    e->text[0] = '\0';
}
