/* Submission, in one message or in pieces. */
#include "handlers.h"

#include "req_common.h"
#include "submit.h"

void req_submit(void *parts, struct request *r)
{
    submit_serve(((struct parts *)parts)->submit, r);
}

void req_script(void *parts, struct request *r)
{
    submit_serve_piece(((struct parts *)parts)->submit, r);
}

void req_commit(void *parts, struct request *r)
{
    submit_serve_commit(((struct parts *)parts)->submit, r);
}
