#ifndef CKPT_ADAPTERS_H
#define CKPT_ADAPTERS_H
/* The adapters that come with the MOM (mom/checkpoint): which of them work on this host, and the one that is used where the site
 * has no $action of its own.
 *
 * At the start and at SIGHUP each is asked (`--probe`), one after the other, as a child of the MOM: exit 0, it works; else the last
 * line that it wrote says why not. Until the answers are in, those of before count; nothing waits for them. Loop thread only.
 */
#include <types.h>

#include "err.h"

struct ckpt_adapters;
struct config;
struct home;
struct loop;

/* ^ Another adapter is used than before, or others work: what HELLO says has changed. */
typedef void ckpt_adapters_fn(void *arg);

struct ckpt_adapters *ckpt_adapters_create(struct loop *l, struct home *h, ckpt_adapters_fn *changed,
                                           void *arg, struct err *e);
void ckpt_adapters_destroy(struct ckpt_adapters *a); /* a probe that runs is killed */

/* The configuration is new: give it the actions of $checkpoint_adapter, as far as that is known to work, and probe again. */
void ckpt_adapters_begin(struct ckpt_adapters *a);

/* The node's attributes: `checkpoint` ("app", "site,criu": what is used here first, then what else works) and
 * `checkpoint_missing` ("criu: ...; dmtcp: ..."). NULL: none is known. */
void ckpt_adapters_add(const struct ckpt_adapters *a, wire_attrs *out);

#endif
