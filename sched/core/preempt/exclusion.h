#ifndef EXCLUSION_H
#define EXCLUSION_H
/* Why a running job is not made to give way: the rows of exclusion.def. */

enum exclusion {
#define EXCLUDED(name, word, sentence) EXCLUDED_##name,
#include "exclusion.def"
#undef EXCLUDED
    EXCLUDED_COUNT_OF /* of rows */
};

const char *exclusion_word(enum exclusion why);     /* "exempt_time" */
const char *exclusion_sentence(enum exclusion why); /* "it runs undisturbed ..." */

#endif
