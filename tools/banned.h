/* Functions without a bound, or with hidden state, do not compile anywhere in the house.
 * Included before everything else by the build; the system's headers come first so that
 * their own declarations are left alone. */
#ifndef CEDE_BANNED_H
#define CEDE_BANNED_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets
#endif
