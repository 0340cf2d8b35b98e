#ifndef TM_LOGIN_H
#define TM_LOGIN_H
/* The session of a login that root takes into the job (pam_pbs). Private to TM's parts. */

struct tm_reply;
struct tm_server;
struct tmx_ask;

/* A question to attach: one about a login (it has a tmx_login) is answered here, any other by tm_attach.h. Takes `r`. */
void tm_login_ask(struct tm_server *t, const struct tmx_ask *ask, struct tm_reply *r);

#endif
