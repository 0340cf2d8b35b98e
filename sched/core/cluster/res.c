/* See res.h. A fraction is kept in millionths, so that sums of amounts are exact and compare like all others. */
#include "res.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "units.h"

enum { MILLION = 1000000 };

bool res_is_numeric(const struct resource *r)
{
    return r->type <= RES_DURATION;
}

int64_t res_parse(const struct resource *r, const char *text)
{
    struct units_size size;
    int64_t n = 0;

    switch (r->type) {
    case RES_LONG:
        return strtoll(text, NULL, 10);
    case RES_FLOAT:
        return (int64_t)(strtod(text, NULL) * MILLION);
    case RES_SIZE:
        return units_parse_size(text, &size, NULL) < 0 ? 0 : (int64_t)units_size_kb(size);
    case RES_DURATION:
        return units_parse_duration_s(text, &n, NULL) < 0 ? 0 : n;
    case RES_BOOLEAN:
    case RES_STRING:
    case RES_STRINGS:
    case RES_TYPE_COUNT:
        break;
    }
    return 0;
}

double res_number(const struct resource *r, int64_t n)
{
    return r->type == RES_FLOAT ? (double)n / MILLION : (double)n;
}

const char *res_format(const struct resource *r, int64_t n, char out[static RES_TEXT_MAX])
{
    if (r->type == RES_SIZE)
        snprintf(out, RES_TEXT_MAX, "%" PRId64 "kb", n);
    else if (r->type == RES_FLOAT)
        snprintf(out, RES_TEXT_MAX, "%g", (double)n / MILLION);
    else if (r->type == RES_DURATION) {
        char text[UNITS_TEXT_MAX];
        snprintf(out, RES_TEXT_MAX, "%s", units_format_duration(text, n));
    } else
        snprintf(out, RES_TEXT_MAX, "%" PRId64, n);
    return out;
}
