#ifndef STATES_H
#define STATES_H
/* States as users see them, from states.def: letters, numbers and words of jobs, vnodes, reservations, servers.
 *
 * What is shown is computed from an object's true state by its owner (server/model); here is only what each
 * letter, number and word is called. Facts: states of the batch interface. Constant; any thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct strbuf;

/* Job states: STATE_QUEUED has letter 'Q' and number 1. Suspended (S, U) is shown of a running job. */
enum job_state_number {
#define JOB_STATE(id, number, letter, word, meaning) STATE_##id = number,
#define JOB_SUBSTATE(id, number, meaning)
#define NODE_STATE(id, bit, word, usable)
#define RESV_STATE(id, short_name)
#define SERVER_STATE(id, word)
#include "states.def"
};

/* Substates: SUB_QUEUED is 10. */
enum job_substate {
#undef JOB_STATE
#define JOB_STATE(id, number, letter, word, meaning)
#undef JOB_SUBSTATE
#define JOB_SUBSTATE(id, number, meaning) SUB_##id = number,
#include "states.def"
};

/* Bits of a vnode's state: NODE_OFFLINE is 0x1. No bit is "free". */
enum node_bit {
#undef JOB_SUBSTATE
#define JOB_SUBSTATE(id, number, meaning)
#undef NODE_STATE
#define NODE_STATE(id, bit, word, usable) NODE_##id = bit,
#include "states.def"
    NODE_FREE = 0
};

enum server_state {
#undef NODE_STATE
#define NODE_STATE(id, bit, word, usable)
#undef SERVER_STATE
#define SERVER_STATE(id, word) SERVER_##id,
#include "states.def"
    SERVER_STATE_COUNT
};
#undef JOB_STATE
#undef JOB_SUBSTATE
#undef NODE_STATE
#undef RESV_STATE
#undef SERVER_STATE

/* The number of a state's letter; S and U have that of R. -1: no such letter. */
int states_number(char letter);

/* "Queued", as state_count has it. NULL: no such letter. */
const char *states_count_word(char letter);

/* A vnode's state as a comma list, "free" if no bit is set. -1: the buffer has failed. */
int states_node_format(uint32_t bits, struct strbuf *out);

/* The way back: words in any order. -1, PBSE_BADATVAL: an unknown word; the text lists the known ones. */
int states_node_parse(const char *text, uint32_t *bits, struct err *e);

/* True if jobs may be started there as far as the state goes. */
bool states_node_is_usable(uint32_t bits);

const char *states_server_word(enum server_state s); /* "Active" */

#endif
