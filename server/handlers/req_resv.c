/* Reservations: each request is one of server/resv. */
#include "handlers.h"
#include "parts.h"
#include "reservations.h"

void req_submit_resv(void *parts, struct request *r)
{
    resv_submit(((struct parts *)parts)->reservations, r);
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
