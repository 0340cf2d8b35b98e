/* Options of pam_pbs: a row each. */
#include "pam_options.h"

#include <stddef.h>
#include <string.h>

static const struct pam_options_row {
    const char *word; /* with "=": a value follows */
    size_t at;
    bool is_text;
    bool value; /* of a flag */
} rows[] = {
    {"no_attach", offsetof(struct pam_options, no_attach), false, true},
    {"debug", offsetof(struct pam_options, debug), false, true},
    {"ignore_root", offsetof(struct pam_options, refuse_root), false, false},
    {"refuse_root", offsetof(struct pam_options, refuse_root), false, true},
    {"users=", offsetof(struct pam_options, users), true, false},
    {"groups=", offsetof(struct pam_options, groups), true, false},
    {"service=", offsetof(struct pam_options, services), true, false},
    {"conf=", offsetof(struct pam_options, conf), true, false},
};

static bool pam_options_take(struct pam_options *o, const char *word)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct pam_options_row *r = &rows[i];
        size_t n = strlen(r->word);

        if (r->is_text && strncmp(word, r->word, n) == 0 && word[n]) {
            memcpy((char *)o + r->at, &(const char *){word + n}, sizeof(const char *));
            return true;
        }
        if (!r->is_text && strcmp(word, r->word) == 0) {
            *(bool *)((char *)o + r->at) = r->value;
            return true;
        }
    }
    return false;
}

const char *pam_options_parse(struct pam_options *o, int argc, const char *const argv[])
{
    const char *bad = NULL;

    *o = (struct pam_options){0};
    for (int i = 0; i < argc; i++)
        if (!pam_options_take(o, argv[i]) && !bad)
            bad = argv[i];
    return bad;
}

bool pam_options_has(const char *list, const char *name)
{
    size_t n = strlen(name);

    while (list && *list) {
        size_t len = strcspn(list, ",");

        if (n && len == n && strncmp(list, name, n) == 0)
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}
