/* Letters, numbers and words of states. See states.h.
 *
 * One file, states.def, is included once for each table, each time with another of its macros alive and
 * the rest empty. So a state has its letter, number and word in one line, and no two tables can disagree. */
#include "states.h"

#include <string.h>
#include <strings.h>

#include "errors.h"
#include "pbs_ifl.h"
#include "strbuf.h"

#define JOB_STATE(id, number, letter, word, meaning)
#define JOB_SUBSTATE(id, number, meaning)
#define NODE_STATE(id, bit, word, usable)
#define RESV_STATE(id, short_name)
#define SERVER_STATE(id, word)

struct job_state_row {
    int number;
    char letter;
    const char *word;
};

static const struct job_state_row job_states[] = {
#undef JOB_STATE
#define JOB_STATE(id, number, letter, word, meaning) {number, letter, word},
#include "states.def"
#undef JOB_STATE
#define JOB_STATE(id, number, letter, word, meaning)
};

struct node_row {
    uint32_t bit;
    const char *word;
    bool usable;
};

static const struct node_row node_states[] = {
#undef NODE_STATE
#define NODE_STATE(id, bit, word, usable) {bit, word, usable},
#include "states.def"
#undef NODE_STATE
#define NODE_STATE(id, bit, word, usable)
};

static const char *const server_words[SERVER_STATE_COUNT] = {
#undef SERVER_STATE
#define SERVER_STATE(id, word) [SERVER_##id] = word,
#include "states.def"
};

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const struct job_state_row *by_letter(char letter)
{
    if (letter == 'S' || letter == 'U') /* suspended: a display of running */
        letter = 'R';
    for (size_t i = 0; i < COUNT(job_states); i++) {
        if (job_states[i].letter == letter)
            return &job_states[i];
    }
    return NULL;
}

int states_number(char letter)
{
    const struct job_state_row *r = by_letter(letter);

    return r ? r->number : -1;
}

const char *states_count_word(char letter)
{
    const struct job_state_row *r = by_letter(letter);

    return r ? r->word : NULL;
}

int states_node_format(uint32_t bits, struct strbuf *out)
{
    bool first = true;

    for (size_t i = 0; i < COUNT(node_states); i++) {
        if (!(bits & node_states[i].bit))
            continue;
        strbuf_add(out, first ? "" : ",");
        strbuf_add(out, node_states[i].word);
        first = false;
    }
    if (first)
        strbuf_add(out, "free");
    return strbuf_ok(out) ? 0 : -1;
}

static const struct node_row *by_word(const char *word, size_t n)
{
    for (size_t i = 0; i < COUNT(node_states); i++) {
        if (strlen(node_states[i].word) == n && strncasecmp(node_states[i].word, word, n) == 0)
            return &node_states[i];
    }
    return NULL;
}

static int unknown_word(const char *word, size_t n, struct err *e)
{
    return errors_set(
        e, PBSE_BADATVAL,
        "'%.*s' is not a state of a vnode: free, offline, down, Stale, job-busy, job-exclusive, "
        "resv-exclusive, busy, provisioning, wait-provisioning, maintenance, sleep",
        (int)(n > 64 ? 64 : n), word);
}

int states_node_parse(const char *text, uint32_t *bits, struct err *e)
{
    uint32_t sum = 0;
    size_t n;

    for (const char *p = text; *p; p += n) {
        p += strspn(p, ", ");
        n = strcspn(p, ", ");
        if (!n || (n == 4 && strncasecmp(p, "free", 4) == 0))
            continue;
        const struct node_row *r = by_word(p, n);
        if (!r)
            return unknown_word(p, n, e);
        sum |= r->bit;
    }
    if (!text[strspn(text, ", ")])
        return unknown_word(text, strlen(text), e);
    *bits = sum;
    return 0;
}

bool states_node_is_usable(uint32_t bits)
{
    for (size_t i = 0; i < COUNT(node_states); i++) {
        if ((bits & node_states[i].bit) && !node_states[i].usable)
            return false;
    }
    return true;
}

const char *states_server_word(enum server_state s)
{
    return server_words[s];
}
