/* Files that did not reach their place. See undelivered.h.
 *
 * A host's note is text for people, in PBS's words; publish/kept_output.c finds the files in it. Of a job of several hosts
 * each may tell its own: notes are put one behind the other. */
#include "undelivered.h"

#include "intern.h"
#include "job_run.h"
#include "kept_output.h"
#include "log.h"
#include "mail.h"
#include "parts.h"
#include "strbuf.h"

enum { KEPT_TEXT_MAX = 1 << 20 }; /* as the note of a host, which is the longest part of it */

/* For the comment of the job when it has ended, behind what its end said. */
static void note_kept(const struct parts *p, struct job *j, const char *kept)
{
    struct strbuf b;

    strbuf_init(&b, KEPT_TEXT_MAX);
    strbuf_addf(&b, "%s%s%s", j->run->note ? j->run->note : "", j->run->note ? "; " : "", kept);
    intern_unref(j->run->note);
    j->run->note = intern_ref(strbuf_str(&b));
    strbuf_fini(&b);
    jobs_touch(p->ctx->jobs, j, PART_HOT);
}

void undelivered_on_files(void *arg, const struct server_event *ev)
{
    const struct parts *p = arg;
    struct job *j = ev->job;
    const char *service = ev->service, *note = ev->text;
    struct strbuf kept, text;
    bool kept_any;

    log_event(LOGC_JOB, LOGE_JOB, j->obj.name, "Post job file processing error; job %s on host %s",
              j->obj.name, service);
    if (attr_list_is_set(&j->obj.attrs, JOB_ATTR_stageout)) {
        attr_list_set_number(&j->obj.attrs, JOB_ATTR_Stageout_status, 0, NULL);
        jobs_touch(p->ctx->jobs, j, PART_ATTRS);
    }
    strbuf_init(&kept, KEPT_TEXT_MAX);
    kept_any = kept_output_add(&kept, job_run_host_name(service), note);
    if (kept_any)
        note_kept(p, j, strbuf_str(&kept));
    strbuf_init(&text, KEPT_TEXT_MAX);
    strbuf_addf(&text, "%s%s%s", note, kept_any ? "\n" : "", strbuf_str(&kept));
    mail_files(p->mail, j, job_run_host_name(service), strbuf_str(&text));
    strbuf_fini(&text);
    strbuf_fini(&kept);
}
