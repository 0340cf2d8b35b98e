#ifndef WEB_EVENTS_H
#define WEB_EVENTS_H
/* Changes as they happen: a stream of server-sent events, or one answer that waits for the next change (long poll).
 *
 *   event: hello    the first; its id is where the stream begins, so that a client which then reads lists misses nothing
 *   event: change   data is {"kind":"job","id":"1.svr","attributes":{...}} or, instead of attributes, "gone":true
 *   event: away     the server cannot be reached; `reset` follows when it is back
 *   event: reset    changes were missed: read everything again
 *
 * An id is EPOCH-NUMBER. A client that comes back shows the last one, as Last-Event-ID or `after`. */

struct web_call;

enum { WEB_STREAMS_MAX = 256, WEB_BEAT_S = 15, WEB_WAIT_MAX_S = 60 };

void web_events_show(struct web_call *w);

/* Called once a second: sends a line to streams that have been quiet, which is how a client that is gone is found. */
void web_events_tick(void);
/* End all streams, before the daemon stops. */
void web_events_stop(void);

#endif
