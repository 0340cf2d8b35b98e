/* Durations, sizes and booleans in the spelling of PBS: see units.h. Nothing here depends on the locale. */
#include "units.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

static const char *units_skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits into *n; EINVAL there are none, ERANGE above INT64_MAX. Moves *p behind them. */
static int units_read_number(const char **p, uint64_t *n)
{
    uint64_t v = 0;

    if (!is_digit(**p))
        return EINVAL;
    for (; is_digit(**p); ++*p)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v) ||
            v > INT64_MAX)
            return ERANGE;
    *n = v;
    return 0;
}

/* The digits behind the point as thousandths, rounded. */
static uint64_t read_fraction_ms(const char **p)
{
    uint64_t ms = 0, digits = 0;

    if (**p != '.')
        return 0;
    for (++*p; is_digit(**p); ++*p, digits++) {
        if (digits < 3)
            ms = ms * 10 + (uint64_t)(**p - '0');
        else if (digits == 3 && **p >= '5')
            ms++;
    }
    for (; digits < 3; digits++)
        ms *= 10;
    return ms;
}

/* Both errors show the text; the one of form shows what it should look like. */
static int bad_duration(const char *text, int code, struct err *e)
{
    if (code == ERANGE)
        return err_set(e, ERANGE, "\"%.100s\" is longer than any duration can be", text);
    return err_set(e, EINVAL,
                   "\"%.100s\" is not a duration: seconds, or [[hours:]minutes:]seconds[.fraction]", text);
}

/* Each colon makes what came before it sixty times as much. */
int units_parse_duration_ms(const char *text, int64_t *out_ms, struct err *e)
{
    const char *p = units_skip_blanks(text);
    uint64_t total_s = 0, part, ms;
    int64_t v;
    int code;

    for (int parts = 1;; parts++, p++) {
        code = units_read_number(&p, &part);
        if (code)
            return bad_duration(text, code, e);
        if (__builtin_mul_overflow(total_s, 60, &total_s) || __builtin_add_overflow(total_s, part, &total_s))
            return bad_duration(text, ERANGE, e);
        if (*p != ':')
            break;
        if (parts == 3)
            return bad_duration(text, EINVAL, e);
    }
    ms = read_fraction_ms(&p);
    if (*units_skip_blanks(p))
        return bad_duration(text, EINVAL, e);
    if (__builtin_mul_overflow(total_s, 1000, &v) || __builtin_add_overflow(v, ms, &v))
        return bad_duration(text, ERANGE, e);
    *out_ms = v;
    return 0;
}

int units_parse_duration_s(const char *text, int64_t *out_s, struct err *e)
{
    int64_t ms;

    if (units_parse_duration_ms(text, &ms, e) < 0)
        return -1;
    *out_s = ms / 1000 + (ms % 1000 >= 500);
    return 0;
}

const char *units_format_duration(char out[static UNITS_TEXT_MAX], int64_t duration_s)
{
    uint64_t s = duration_s < 0 ? -(uint64_t)duration_s : (uint64_t)duration_s;

    snprintf(out, UNITS_TEXT_MAX, "%s%02llu:%02u:%02u", duration_s < 0 ? "-" : "",
             (unsigned long long)(s / 3600), (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    return out;
}

static const char prefixes[] = "kmgtp";

/* The bound is in bytes, whatever the unit is, so that every size can be converted. */
int units_parse_size(const char *text, struct units_size *out, struct err *e)
{
    struct units_size s = {0};
    const char *p = units_skip_blanks(text);
    const char *prefix;
    int code = units_read_number(&p, &s.n);

    if (!code) {
        prefix = *p ? strchr(prefixes, *p | 0x20) : NULL;
        if (prefix) {
            s.shift = (uint8_t)(10 * (prefix - prefixes + 1));
            p++;
        }
        s.words = (*p | 0x20) == 'w';
        if (s.words || (*p | 0x20) == 'b')
            p++;
        if (*units_skip_blanks(p))
            code = EINVAL;
    }
    if (code == EINVAL)
        return err_set(e, EINVAL,
                       "\"%.100s\" is not a size: a whole number and b, kb, mb, gb, tb or pb (w for words)",
                       text);
    if (code || s.n > (UINT64_MAX >> s.shift >> (s.words ? 3 : 0)))
        return err_set(e, ERANGE, "\"%.100s\" is larger than any size can be", text);
    *out = s;
    return 0;
}

const char *units_format_size(char out[static UNITS_TEXT_MAX], struct units_size s)
{
    char prefix[2] = {s.shift ? prefixes[s.shift / 10 - 1] : '\0', '\0'};

    snprintf(out, UNITS_TEXT_MAX, "%llu%s%s", (unsigned long long)s.n, prefix, s.words ? "w" : "b");
    return out;
}

uint64_t units_size_bytes(struct units_size s)
{
    unsigned shift = s.shift + (s.words ? 3u : 0u);

    return s.n > UINT64_MAX >> shift ? UINT64_MAX : s.n << shift;
}

uint64_t units_size_kb(struct units_size s)
{
    uint64_t bytes = units_size_bytes(s);

    return bytes / 1024 + (bytes % 1024 != 0);
}

struct units_size units_size_of_kb(uint64_t kb)
{
    enum { KB_SHIFT = 10 };
    const uint64_t most = UINT64_MAX >> KB_SHIFT;

    return (struct units_size){.n = kb < most ? kb : most, .shift = KB_SHIFT};
}

int units_size_compare(struct units_size a, struct units_size b)
{
    uint64_t x = units_size_bytes(a), y = units_size_bytes(b);

    return x < y ? -1 : x > y;
}

/* yes[i] and no[i] are pairs, so one loop asks both. */
int units_parse_bool(const char *text, bool *out, struct err *e)
{
    static const char *const yes[] = {"true", "t", "yes", "y", "1"};
    static const char *const no[] = {"false", "f", "no", "n", "0"};
    char word[8];
    const char *p = units_skip_blanks(text);
    size_t n = strcspn(p, " \t");

    if (n < sizeof word && !*units_skip_blanks(p + n)) {
        memcpy(word, p, n);
        word[n] = '\0';
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
            if (strcasecmp(word, yes[i]) && strcasecmp(word, no[i]))
                continue;
            *out = !strcasecmp(word, yes[i]);
            return 0;
        }
    }
    return err_set(e, EINVAL, "\"%.100s\" is neither True nor False", text);
}

const char *units_format_bool(bool b)
{
    return b ? "True" : "False";
}

int units_parse_int(const char *text, int64_t min, int64_t max, int64_t *out, struct err *e)
{
    const char *p = units_skip_blanks(text);
    const char *digits = p + (*p == '-' || *p == '+');
    char *end;
    long long v;

    errno = 0;
    v = strtoll(p, &end, digits[0] == '0' && (digits[1] | 0x20) == 'x' ? 16 : 10);
    if (!is_digit(*digits) || *units_skip_blanks(end))
        return err_set(e, EINVAL, "\"%.100s\" is not a whole number", text);
    if (errno == ERANGE || v < min || v > max)
        return err_set(e, ERANGE, "%.100s is not between %lld and %lld", p, (long long)min, (long long)max);
    *out = v;
    return 0;
}
