/* Checked here as well as by the server, since a wrong letter is a matter of usage and not of a job. */
#include "hold_letters.h"

#include <string.h>

bool hold_letters_are_good(const char *text)
{
    return !strcmp(text, "n") || (*text && !text[strspn(text, "uosp")]);
}
