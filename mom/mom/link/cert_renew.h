#ifndef CERT_RENEW_H
#define CERT_RENEW_H
/* The certificate of this host's MOM: renewed by the server in the last third of its life; and what the CA has taken back,
 * heard from the server within a minute and obeyed towards sisters. */
#include "err.h"

struct cert_life;
struct parts;
struct ssl_ctx_st;

/* Borrowed for life: the contexts towards the server and sisters, and for sisters that come. NULL: e. */
struct cert_life *cert_life_create(struct parts *m, struct ssl_ctx_st *out, struct ssl_ctx_st *in,
                                   struct err *e);
void cert_life_destroy(struct cert_life *c);

#endif
