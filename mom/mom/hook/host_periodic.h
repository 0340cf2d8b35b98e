#ifndef HOST_PERIODIC_H
#define HOST_PERIODIC_H
/* exechost_startup, when the MOM starts and at SIGHUP; exechost_periodic, a timer for each hook. A turn that comes while the last one
 * still runs is dropped. Loop thread only. */
struct host_hooks;
struct host_periodic;

struct host_periodic *host_periodic_create(struct host_hooks *x); /* NULL: no memory */
void host_periodic_destroy(struct host_periodic *p);              /* after the pool */

/* Hooks have changed: timers are made, set again and removed. */
void host_periodic_review(struct host_periodic *p);
/* Run the hooks of exechost_startup. */
void host_periodic_startup(struct host_periodic *p);

#endif
