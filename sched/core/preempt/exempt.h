#ifndef EXEMPT_H
#define EXEMPT_H
/* Why a running job is not made to give way: the rows of exempt.def. */

enum spared {
#define SPARED(name, word, sentence) SPARED_##name,
#include "exempt.def"
#undef SPARED
    SPARED_COUNT_OF /* of rows */
};

const char *spared_word(enum spared why);     /* "exempt_time" */
const char *spared_sentence(enum spared why); /* "it runs undisturbed ..." */

#endif
