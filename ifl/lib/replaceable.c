/* The calls of pbs_ifl.h as programs link them: each goes through its pointer. See pbs_pfn.h. */
#include "pbs_ifl.h"

#define REPLACEABLE(type, name, parameters, arguments)                                                       \
    type(*pfn_##name) parameters = __##name;                                                                 \
    type name parameters                                                                                     \
    {                                                                                                        \
        return pfn_##name arguments;                                                                         \
    }
PBS_CALLS(REPLACEABLE)
