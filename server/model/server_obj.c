/* The server object. See server_obj.h.
 *
 * Of its fields only the next number of a job is stored. It is taken in memory and written with the batch of
 * the job that has it, so a number that was given and never stored may be given again after a crash: no client
 * has seen it. */
#include "server_obj.h"

#include <jansson.h>
#include <stdlib.h>

#include "json_read.h"
#include "log.h"
#include "pbs_error.h"

static int server_encode(const struct object *o, enum change_part part, struct strbuf *out)
{
    const struct server_obj *s = (const struct server_obj *)o;

    if (part != PART_HOT)
        return 0;
    return strbuf_addf(out, "{\"next_seq\":%lld}", (long long)s->next_seq);
}

static void server_destroy(struct object *o)
{
    struct server_obj *s = (struct server_obj *)o;

    resc_free(s->assigned);
    object_fini(o);
    free(s);
}

const struct object_kind server_kind = {.kind = CHANGE_SERVER,
                                        .name = "server",
                                        .attrs = OF_SERVER,
                                        .encode = server_encode,
                                        .destroy = server_destroy};

struct server_obj *server_obj_create(struct change *c, const char *name)
{
    struct server_obj *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    if (object_init(&s->obj, &server_kind, name) < 0 || attr_list_set_defaults(&s->obj.attrs, NULL) < 0) {
        server_destroy(&s->obj);
        return NULL;
    }
    change_touch(c, &s->obj.change, PART_ALL);
    return s;
}

void server_obj_destroy(struct server_obj *s, struct change *c)
{
    if (!s)
        return;
    change_gone(c, &s->obj.change, s->obj.name);
    object_unref(&s->obj);
}

void server_obj_bound_seq(struct server_obj *s, struct change *c)
{
    if (s->next_seq <= attr_list_effective(&s->obj.attrs, SERVER_ATTR_max_job_sequence_id))
        return;
    s->next_seq = 0;
    log_event(LOGC_SVR, LOGE_ADMIN, s->obj.name, "svr_max_job_sequence_id wrapped to 0");
    change_store_only(c, &s->obj.change, PART_HOT);
}

int64_t server_obj_take_seq(struct server_obj *s, struct change *c)
{
    int64_t seq;

    server_obj_bound_seq(s, c);
    seq = s->next_seq++;
    server_obj_bound_seq(s, c);
    change_store_only(c, &s->obj.change, PART_HOT);
    return seq;
}

bool server_obj_history(const struct server_obj *s)
{
    return attr_list_bool(&s->obj.attrs, SERVER_ATTR_job_history_enable, false) || server_obj_is_closed(s);
}

void server_obj_close(struct server_obj *s, const char *why)
{
    attr_list_set_text(&s->obj.attrs, SERVER_ATTR_closed, why, NULL);
}

bool server_obj_is_closed(const struct server_obj *s)
{
    return attr_list_text(&s->obj.attrs, SERVER_ATTR_closed) != NULL;
}

enum server_state server_obj_state(const struct server_obj *s)
{
    if (s->terminating)
        return SERVER_TERMINATING;
    if (s->scheduling_cycle)
        return SERVER_SCHEDULING;
    return attr_list_bool(&s->obj.attrs, SERVER_ATTR_scheduling, true) ? SERVER_ACTIVE : SERVER_IDLE;
}

int server_obj_decode(struct server_obj *s, const char *hot_json, struct err *e)
{
    json_t *json = json_read_own(hot_json);
    json_int_t seq = 0;

    if (!json || json_unpack(json, "{s:I}", "next_seq", &seq) < 0) {
        json_decref(json);
        return err_set(e, PBSE_SYSTEM, "the stored row of the server cannot be read");
    }
    s->next_seq = seq;
    json_decref(json);
    return 0;
}
