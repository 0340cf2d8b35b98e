/* Texts of a fixed vocabulary. See type_words.h.
 *
 * There is one parser a grammar (a word of several, a set of letters ...), and one rule a type, which the
 * value_type carries: a new type of a known grammar is a row. What is kept is the usual spelling, not what
 * was written, so that values can be compared as they are. */
#include "type_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "errors.h"
#include "pbs_ifl.h"
#include "states.h"
#include "strbuf.h"
#include "type_list.h"
#include "type_scalar.h"

/* --- one word of several ---------------------------------------------------------------------------- */

struct choice_rule {
    bool any_case;
    bool beginning; /* a beginning of the word will do */
    const char *const *words;
};

static const char *type_words_choose(const struct choice_rule *r, const char *text)
{
    size_t n = strlen(text);

    for (const char *const *w = r->words; n && *w; w++) {
        size_t m = r->beginning ? n : strlen(*w) + 1;
        if ((r->any_case ? strncasecmp(*w, text, m) : strncmp(*w, text, m)) == 0)
            return *w;
    }
    return NULL;
}

static int type_words_choice_parse(const struct value_type *t, const char *text, struct value *out,
                                   struct err *e)
{
    const char *word = type_words_choose(t->rule, text);

    return word ? type_string.parse(t, word, out, e) : value_bad(t, text, e);
}

/* A list, each word of which is one of several. */
static int type_words_choices_parse(const struct value_type *t, const char *text, struct value *out,
                                    struct err *e)
{
    const char *p = text, *w;
    char word[64];
    size_t n;

    while ((w = list_next(&p, &n))) {
        snprintf(word, sizeof word, "%.*s", (int)n, w);
        if (n >= sizeof word || !type_words_choose(t->rule, word))
            return value_bad(t, text, e);
    }
    return type_string_array.parse(t, text, out, e);
}

static const char *const join_words[] = {"n", "oe", "eo", NULL};
static const char *const queue_words[] = {"Execution", "Route", NULL};
static const char *const sandbox_words[] = {"HOME", "PRIVATE", NULL};
static const char *const tolerate_words[] = {"none", "job_start", "all", NULL};
static const char *const sharing_words[] = {"default_shared",
                                            "default_excl",
                                            "default_exclhost",
                                            "ignore_excl",
                                            "force_excl",
                                            "force_exclhost",
                                            NULL};
static const char *const run_wait_words[] = {"none", "runjob_hook", "execjob_hook", NULL};
static const char *const fuzzy_words[] = {"off", "low", "medium", "high", NULL};
static const char *const hook_type_words[] = {"site", "pbs", NULL};
static const char *const hook_user_words[] = {"pbsadmin", "pbsuser", NULL};
static const char *const fail_action_words[] = {"none", "offline_vnodes", "clear_vnodes_upon_recovery",
                                                "scheduler_restart_cycle", NULL};

static const struct choice_rule join_rule = {.words = join_words};
static const struct choice_rule queue_rule = {true, true, queue_words};
static const struct choice_rule sandbox_rule = {.any_case = true, .words = sandbox_words};
static const struct choice_rule tolerate_rule = {.words = tolerate_words};
static const struct choice_rule sharing_rule = {.words = sharing_words};
static const struct choice_rule run_wait_rule = {.words = run_wait_words};
static const struct choice_rule fuzzy_rule = {.words = fuzzy_words};
static const struct choice_rule hook_type_rule = {.words = hook_type_words};
static const struct choice_rule hook_user_rule = {.words = hook_user_words};
static const struct choice_rule fail_action_rule = {.words = fail_action_words};

/* --- a set of letters ------------------------------------------------------------------------------- */

struct letter_rule {
    const char *letters;
    bool none; /* "n" alone is the empty set */
};

static bool are_letters(const struct letter_rule *r, const char *text)
{
    if (r->none && strcmp(text, "n") == 0)
        return true;
    for (const char *p = text; *p; p++) {
        if (!strchr(r->letters, *p) || strchr(p + 1, *p))
            return false;
    }
    return *text != '\0';
}

static int type_words_letters_parse(const struct value_type *t, const char *text, struct value *out,
                                    struct err *e)
{
    return are_letters(t->rule, text) ? type_string.parse(t, text, out, e) : value_bad(t, text, e);
}

static const struct letter_rule mail_rule = {"abej", true};
static const struct letter_rule mail_resv_rule = {"abce", true};
static const struct letter_rule keep_rule = {"oed", true};
static const struct letter_rule remove_rule = {"oe", false};

/* --- bits: holds and vnode states ------------------------------------------------------------------- */

static const char hold_letters[] = "uosp"; /* bit i of enum hold_bit is letter i */

int words_hold_parse(const char *letters, int64_t *bits, struct err *e)
{
    int64_t sum = 0;
    bool none = strcmp(letters, NO_HOLD) == 0;

    for (const char *p = letters; *p && !none; p++) {
        const char *at = strchr(hold_letters, *p);
        if (!at)
            return errors_set(e, PBSE_BADATVAL, "'%.40s': holds are letters of u o s p, or n", letters);
        sum |= 1 << (at - hold_letters);
    }
    if (!*letters)
        return errors_set(e, PBSE_BADATVAL, "'': holds are letters of u o s p, or n");
    *bits = sum;
    return 0;
}

static int type_words_hold_parse(const struct value_type *t, const char *text, struct value *out,
                                 struct err *e)
{
    int64_t bits;

    if (words_hold_parse(text, &bits, e) < 0)
        return -1;
    *out = value_of_number(bits);
    return 0;
}

static int type_words_hold_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    if (!(v->n & 15))
        return strbuf_add(out, NO_HOLD);
    for (int i = 0; hold_letters[i]; i++) {
        if (v->n & 1 << i)
            strbuf_add_char(out, hold_letters[i]);
    }
    return strbuf_ok(out) ? 0 : -1;
}

static int type_words_node_state_parse(const struct value_type *t, const char *text, struct value *out,
                                       struct err *e)
{
    uint32_t bits;

    if (states_node_parse(text, &bits, e) < 0)
        return -1;
    *out = value_of_number(bits);
    return 0;
}

static int type_words_node_state_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return states_node_format((uint32_t)v->n, out);
}

static int type_words_bits_incr(const struct value_type *t, struct value *v, const struct value *by,
                                struct err *e)
{
    (void)t, (void)e;
    v->n = (v->kind == VALUE_NUMBER ? v->n : 0) | by->n;
    v->kind = VALUE_NUMBER;
    return 0;
}

static int type_words_bits_decr(const struct value_type *t, struct value *v, const struct value *by,
                                struct err *e)
{
    (void)t, (void)e;
    v->n = (v->kind == VALUE_NUMBER ? v->n : 0) & ~by->n;
    v->kind = VALUE_NUMBER;
    return 0;
}

static int type_words_bits_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return a->n != b->n;
}

/* --- checkpoint, names, arguments ------------------------------------------------------------------- */

/* "=MINUTES" with at least one */
static bool are_minutes(const char *text)
{
    size_t n = *text == '=' ? strspn(text + 1, "0123456789") : 0;

    return n && n < 10 && !text[n + 1] && strtol(text + 1, NULL, 10) > 0;
}

static int type_words_checkpoint_parse(const struct value_type *t, const char *text, struct value *out,
                                       struct err *e)
{
    bool alone = text[0] && strchr("nscwu", text[0]) && !text[1];

    if (!alone && strcmp(text, "auto") != 0 && !((text[0] == 'c' || text[0] == 'w') && are_minutes(text + 1)))
        return value_bad(t, text, e);
    return type_string.parse(t, text, out, e);
}

static int type_words_job_name_parse(const struct value_type *t, const char *text, struct value *out,
                                     struct err *e)
{
    size_t n = 0;

    while (isgraph((unsigned char)text[n]) || (unsigned char)text[n] >= 0x80)
        n++;
    if (n > PBS_MAXJOBNAME)
        return errors_set(e, PBSE_JOBNBIG, "'%.40s...' has %zu characters, %d are the most", text, n,
                          PBS_MAXJOBNAME);
    if (!n || text[n] || strchr(text, '/'))
        return value_bad(t, text, e);
    return type_string.parse(t, text, out, e);
}

static int type_words_project_parse(const struct value_type *t, const char *text, struct value *out,
                                    struct err *e)
{
    if (!*text || strlen(text) > 256 || strpbrk(text, "/[]\";:|<>+,?*\\ \t\n"))
        return value_bad(t, text, e);
    return type_string.parse(t, text, out, e);
}

static int type_words_qdel_args_parse(const struct value_type *t, const char *text, struct value *out,
                                      struct err *e)
{
    static const char option[] = "suppress_email=";
    const char *p = text;
    size_t n;

    if (strncmp(p, "-W", 2) == 0)
        p += 2 + strspn(p + 2, " ");
    if (p == text || strncmp(p, option, sizeof option - 1) != 0)
        return value_bad(t, text, e);
    p += sizeof option - 1;
    p += *p == '-';
    n = strspn(p, "0123456789");
    return n && n < 10 && !p[n] ? type_string.parse(t, text, out, e) : value_bad(t, text, e);
}

/* --- the types -------------------------------------------------------------------------------------- */

static int type_words_format(const struct value_type *t, const struct value *v, struct strbuf *out)
{
    return type_string.format(t, v, out);
}

static int type_words_compare(const struct value_type *t, const struct value *a, const struct value *b)
{
    return type_string.compare(t, a, b);
}

static int type_words_set_incr(const struct value_type *t, struct value *v, const struct value *by,
                               struct err *e)
{
    return type_string_array.incr(t, v, by, e);
}

static int type_words_set_decr(const struct value_type *t, struct value *v, const struct value *by,
                               struct err *e)
{
    return type_string_array.decr(t, v, by, e);
}

#define BASE(form_)                                                                                          \
    .by = BY_NOTHING, .form = form_, .dup = value_dup, .free = value_free, .to_json = value_to_json_text,    \
    .from_json = value_from_json_text
#define WORD(parse_, form_)                                                                                  \
    .name = "string", .number = 3, .parse = parse_, .format = type_words_format,                             \
    .compare = type_words_compare, BASE(form_)
#define BITS(parse_, format_, form_)                                                                         \
    .parse = parse_, .format = format_, .incr = type_words_bits_incr, .decr = type_words_bits_decr,          \
    .compare = type_words_bits_compare, BASE(form_)

const struct value_type type_hold = {
    .name = "hold letters",
    .number = 3,
    BITS(type_words_hold_parse, type_words_hold_format, "must be letters of u o s p, or n")};
const struct value_type type_node_state = {
    .name = "vnode state",
    .number = 10,
    BITS(type_words_node_state_parse, type_words_node_state_format, "must be states of a vnode")};

const struct value_type type_mail = {.rule = &mail_rule,
                                     WORD(type_words_letters_parse, "must be letters of a b e j, or n")};
const struct value_type type_mail_resv = {.rule = &mail_resv_rule,
                                          WORD(type_words_letters_parse, "must be letters of a b c e, or n")};
const struct value_type type_keep = {.rule = &keep_rule,
                                     WORD(type_words_letters_parse, "must be letters of o e d, or n")};
const struct value_type type_remove = {.rule = &remove_rule,
                                       WORD(type_words_letters_parse, "must be o, e, oe or eo")};
const struct value_type type_join = {.rule = &join_rule,
                                     WORD(type_words_choice_parse, "must be n, oe or eo")};
const struct value_type type_checkpoint = {
    WORD(type_words_checkpoint_parse, "must be n, s, c, c=MINUTES, w, w=MINUTES, auto or u")};
const struct value_type type_queue_type = {.rule = &queue_rule,
                                           WORD(type_words_choice_parse, "must be Execution or Route")};
const struct value_type type_sandbox = {.rule = &sandbox_rule,
                                        WORD(type_words_choice_parse, "must be HOME or PRIVATE")};
const struct value_type type_tolerate = {.rule = &tolerate_rule,
                                         WORD(type_words_choice_parse, "must be none, job_start or all")};
const struct value_type type_sharing = {
    .rule = &sharing_rule,
    WORD(type_words_choice_parse, "must be default_shared, default_excl, default_exclhost, ignore_excl, "
                                  "force_excl or force_exclhost")};
const struct value_type type_run_wait = {
    .rule = &run_wait_rule, WORD(type_words_choice_parse, "must be none, runjob_hook or execjob_hook")};
const struct value_type type_fuzzy = {.rule = &fuzzy_rule,
                                      WORD(type_words_choice_parse, "must be off, low, medium or high")};
const struct value_type type_hook_type = {.rule = &hook_type_rule,
                                          WORD(type_words_choice_parse, "must be site or pbs")};
const struct value_type type_hook_user = {.rule = &hook_user_rule,
                                          WORD(type_words_choice_parse, "must be pbsadmin or pbsuser")};
const struct value_type type_fail_action = {
    .rule = &fail_action_rule,
    .incr = type_words_set_incr,
    .decr = type_words_set_decr,
    WORD(type_words_choices_parse,
         "must be none, offline_vnodes, clear_vnodes_upon_recovery or scheduler_restart_cycle")};
const struct value_type type_qdel_args = {WORD(type_words_qdel_args_parse, "must be -Wsuppress_email=N")};
const struct value_type type_job_name = {
    WORD(type_words_job_name_parse, "must be 1 to 230 printable characters without blanks and /")};
const struct value_type type_project = {
    WORD(type_words_project_parse,
         "must be up to 256 characters without / [ ] \" ; : | < > + , ? * \\ and blanks")};
