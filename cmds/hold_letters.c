#include "hold_letters.h"

#include <string.h>

bool hold_letters_are_good(const char *text)
{
    return !strcmp(text, "n") || (*text && !text[strspn(text, "uosp")]);
}
