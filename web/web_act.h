#ifndef WEB_ACT_H
#define WEB_ACT_H
/* Handlers that change something: each is one call of libpbs, as the user who runs this program. Bodies are JSON objects, whose members the
 * route has checked (web_body.h). */

struct web_call;

void web_act_submit(struct web_call *w);
void web_act_delete(struct web_call *w);
void web_act_hold(struct web_call *w);
void web_act_release(struct web_call *w);
void web_act_signal(struct web_call *w);
void web_act_alter(struct web_call *w);

/* The output of a job that runs, as it is now; it changes nothing, but is not for every user. */
void web_act_output(struct web_call *w);

#endif
