/* One table of operators; longer ones come before those that they begin with, since the first match is taken. Options
 * with a letter accept the letters (.eq.) only; -l accepts the signs as well. */
#include "qselect_criteria.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    enum batch_op op;
} operators[] = {{".eq.", EQ}, {".ne.", NE}, {".ge.", GE}, {".gt.", GT}, {".le.", LE},
                 {".lt.", LT}, {"!=", NE},   {">=", GE},   {"<=", LE},   {"==", EQ},
                 {"=", EQ},    {">", GT},    {"<", LT}};

enum { N_LETTERS = 6, N_OPERATORS = sizeof operators / sizeof operators[0] };

enum batch_op qselect_criteria_op(const char *text, const char **value)
{
    int i;

    for (i = 0; i < N_LETTERS; i++)
        if (!strncmp(text, operators[i].text, 4)) {
            *value = text + 4;
            return operators[i].op;
        }
    *value = text;
    return EQ;
}

/* Return the operator that begins here; -1: none. */
static int operator_at(const char *s)
{
    int i;

    for (i = 0; i < N_OPERATORS; i++)
        if (!strncmp(s, operators[i].text, strlen(operators[i].text)))
            return i;
    return -1;
}

/* Read one criterion of `n` bytes. */
static int read_one(const char *text, size_t n, qselect_criteria_fn *each, void *context)
{
    char *copy = strndup(text, n), *s = copy;
    int op = -1, rc = -1;

    while (s && *s && (op = operator_at(s)) < 0)
        s++;
    if (op >= 0 && s > copy && isalpha((unsigned char)*copy)) {
        *s = '\0';
        s += strlen(operators[op].text);
        rc = *s ? each(context, copy, operators[op].op, s) : -1;
    }
    free(copy);
    return rc;
}

int qselect_criteria_resources(const char *text, qselect_criteria_fn *each, void *context)
{
    for (;;) {
        size_t n = strcspn(text, ",");
        int rc = read_one(text, n, each, context);

        if (rc)
            return rc;
        if (!text[n])
            return 0;
        text += n + 1;
    }
}
