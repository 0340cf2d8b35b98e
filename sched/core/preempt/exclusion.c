/* Two columns of one table. */
#include "exclusion.h"

static const struct {
    const char *word, *sentence;
} rows[EXCLUDED_COUNT_OF] = {
#define EXCLUDED(name, word, sentence) [EXCLUDED_##name] = {word, sentence},
#include "exclusion.def"
#undef EXCLUDED
};

const char *exclusion_word(enum exclusion why)
{
    return rows[why].word;
}

const char *exclusion_sentence(enum exclusion why)
{
    return rows[why].sentence;
}
