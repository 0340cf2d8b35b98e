#ifndef STEPS_H
#define STEPS_H
/* Steps of this program so far: basic blocks that its first thread has entered, of what was compiled with
 * -fsanitize-coverage=trace-pc. See steps.c. */
#include <stdint.h>

uint64_t steps_count(void);

#endif
