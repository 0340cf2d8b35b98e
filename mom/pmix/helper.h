#ifndef HELPER_H
#define HELPER_H
/* What the parts of the helper share: made by main.c, handed down to all. */
#include <stdbool.h>

struct helper_launch;
struct helper_policy;
struct helper_talk;
struct helper_link;
struct helper_queue;

struct helper {
    const char *job;            /* its identifier: also the namespace of its first process */
    char host[256];             /* as the nodefile calls this host */
    char dir[4096];             /* of the PMIx library, private to the job; "" before it is made */
    struct helper_link *link;   /* the shepherd */
    struct helper_queue *queue; /* from the threads of the library */
    struct helper_launch *launches;
    struct helper_talk *talk;
    struct helper_policy *policy; /* helper_policy.c; NULL: no program has asked */
};

#endif
