#ifndef ZYGOTE_LINK_H
#define ZYGOTE_LINK_H
/* The MOM's end of the zygote (mom/shepherd/zygote.h): started when first needed, again when it has ended. */
#include "err.h"

struct home;
struct loop;
struct zygote_link;

struct zygote_link *zygote_link_create(struct loop *l, const struct home *h); /* NULL: no memory */
void zygote_link_destroy(struct zygote_link *n); /* it ends; its shepherds stay */

/* Have a shepherd begin in `path`, with `socket`, which stays ours to close. 0: it is asked for; the other end of the
 * socket closes if nothing comes of it. -1: there is no zygote now, or it is behind: start the shepherd otherwise. */
int zygote_link_ask(struct zygote_link *n, const char *path, int socket);

/* A shepherd that it was asked for ended before it had begun, as happens where its forks fail and ours do not: it ends, and for a while
 * shepherds are started without it. */
void zygote_link_distrust(struct zygote_link *n);

#endif
