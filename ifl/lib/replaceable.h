#ifndef REPLACEABLE_H
#define REPLACEABLE_H
/* For the files that define calls of pbs_ifl.h: what they define as pbs_x is linked as __pbs_x, and what they call is
 * that too. The pbs_x that programs call is in replaceable.c. */
#include "pbs_ifl.h"

#define REPLACEABLE(type, name, parameters, arguments) extern type name parameters __asm__("__" #name);
PBS_CALLS(REPLACEABLE)
#undef REPLACEABLE

#endif
