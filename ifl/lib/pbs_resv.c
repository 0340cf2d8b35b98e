/* Reservations: the calls exist so that programs link; they return PBSE_NOSUP. */
#include "call.h"
#include "replaceable.h"

char *pbs_submit_resv(int c, struct attropl *attrib, const char *extend)
{
    (void)attrib, (void)extend;
    (void)call_unsupported(c, "a reservation");
    return NULL;
}

char *pbs_modify_resv(int c, const char *resvid, struct attropl *attrib, const char *extend)
{
    (void)resvid, (void)attrib, (void)extend;
    (void)call_unsupported(c, "altering a reservation");
    return NULL;
}

int pbs_delresv(int c, const char *resvid, const char *extend)
{
    (void)resvid, (void)extend;
    return call_unsupported(c, "deleting a reservation");
}

int pbs_confirmresv(int c, const char *resvid, const char *location, unsigned long start, const char *extend)
{
    (void)resvid, (void)location, (void)start, (void)extend;
    return call_unsupported(c, "confirming a reservation");
}
