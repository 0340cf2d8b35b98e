#ifndef HELPER_UPCALLS_H
#define HELPER_UPCALLS_H
/* What the PMIx library calls in us, on its own threads: each upcall copies what it is given into an event of the queue, and says that
 * the answer will come. */
struct helper_queue;
struct pmix_server_module_4_0_0_t;

/* The table for PMIx_server_init. The library passes no argument of ours to its upcalls: so there is one queue in a program. */
struct pmix_server_module_4_0_0_t *helper_upcalls_table(struct helper_queue *q);

/* Events of programs, after PMIx_server_init. */
void helper_upcalls_listen(void);

#endif
