/* Reservations: each request is one of server/resv. */
#include "handlers.h"
#include "parts.h"
#include "req_common.h"
#include "reservations.h"

/* A reservation is made of a job when its hosts have begun it. */
void req_submit_resv(void *parts, struct request *r)
{
    const char *id = resv_submit_job(r);
    struct parts *p = parts;
    struct err e;
    struct job *j = id ? req_find_job(p, r, id, &e) : NULL;

    if (!j || !req_wait_for_start(p, r, j, req_submit_resv))
        resv_submit(p->reservations, r);
}

void req_confirm_resv(void *parts, struct request *r)
{
    resv_confirm(((struct parts *)parts)->reservations, r);
}

void req_delete_resv(void *parts, struct request *r)
{
    resv_delete(((struct parts *)parts)->reservations, r);
}

void req_modify_resv(void *parts, struct request *r)
{
    resv_alter(((struct parts *)parts)->reservations, r);
}
