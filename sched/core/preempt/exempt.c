/* Two columns of one table. */
#include "exempt.h"

static const struct {
    const char *word, *sentence;
} rows[SPARED_COUNT_OF] = {
#define SPARED(name, word, sentence) [SPARED_##name] = {word, sentence},
#include "exempt.def"
#undef SPARED
};

const char *spared_word(enum spared why)
{
    return rows[why].word;
}

const char *spared_sentence(enum spared why)
{
    return rows[why].sentence;
}
