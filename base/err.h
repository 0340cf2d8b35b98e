#ifndef ERR_H
#define ERR_H
/* What went wrong, in a number and a sentence.
 *
 * A function that can fail takes a `struct err *e` as its last argument, returns -1 (or NULL) and fills it. `code` is
 * an errno value in base, a PBSE_ number above it, never 0 after a failure. `text` names the thing and the remedy; it
 * is cut at ERR_TEXT_MAX, on a whole UTF-8 character. Caller's memory; no heap; `e` may be NULL everywhere when the
 * caller does not need the reason. Any thread.
 */
#include <errno.h>
#include <stdarg.h>

enum { ERR_TEXT_MAX = 512 };

struct err {
    int code;
    char text[ERR_TEXT_MAX];
};

/* Fill `e` with code and text. Arguments may be e->text itself. Always -1: `return err_set(e, EINVAL, ...)`.
 */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_vset(struct err *e, int code, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

/* As err_set, with ": " and what the system says of errno value `errnum` behind the text. Always -1. */
int err_errno(struct err *e, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put context before the text there is: "context: text". The code stays. Always -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Back to "nothing went wrong": code 0, empty text. */
void err_clear(struct err *e);

/* So that the compiler sees the -1 too, and does not take what is left unset on failure for used. */
#define err_set(...)                                                                                         \
    ({                                                                                                       \
        err_set(__VA_ARGS__);                                                                                \
        -1;                                                                                                  \
    })
#define err_errno(...)                                                                                       \
    ({                                                                                                       \
        err_errno(__VA_ARGS__);                                                                              \
        -1;                                                                                                  \
    })
#define err_prefix(...)                                                                                      \
    ({                                                                                                       \
        err_prefix(__VA_ARGS__);                                                                             \
        -1;                                                                                                  \
    })

/* ENOMEM, where there is nothing to name: for what is made once, and small. Always -1. */
static inline int err_no_memory(struct err *e)
{
    return err_set(e, ENOMEM, "no memory");
}

#endif
