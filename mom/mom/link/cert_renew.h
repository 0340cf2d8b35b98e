#ifndef CERT_RENEW_H
#define CERT_RENEW_H
/* The certificate of this host's MOM: renewed by the server in the last third of its life; and what the CA has taken back,
 * heard from the server within a minute and obeyed towards sisters. */
#include "err.h"

struct cert_renew;
struct mom;
struct ssl_ctx_st;

/* Borrowed for life: the contexts towards the server and sisters, and for sisters that come. NULL: e. */
struct cert_renew *cert_renew_create(struct mom *m, struct ssl_ctx_st *out, struct ssl_ctx_st *in,
                                     struct err *e);
void cert_renew_destroy(struct cert_renew *c);

#endif
