/* Where a job's images lie. See job_image.h.
 *
 * run_checkpoint.c makes the text when all hosts have said where their part is; exec_send.c, start_order.c and image_bind.c read it. The
 * text is made here and read here, so a line is never without its blank. What follows a prefix is the host's own name of the
 * image, which only the host understands. */
#include "job_image.h"

#include <string.h>

#include "job.h"
#include "job_run.h"
#include "strbuf.h"

#define SHARED "shared:"
#define MOVES  "moves:"

static bool take_prefix(const char **path, const char *prefix)
{
    size_t n = strlen(prefix);
    bool has = strncmp(*path, prefix, n) == 0;

    *path += has ? n : 0;
    return has;
}

bool job_image_at(const char *text, size_t i, struct job_image *out)
{
    const char *blank;

    while (text && i--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    blank = text ? strchr(text, ' ') : NULL;
    if (!blank)
        return false;
    *out = (struct job_image){.service = text, .service_len = (size_t)(blank - text), .path = blank + 1};
    out->shared = take_prefix(&out->path, SHARED);
    out->moves = take_prefix(&out->path, MOVES);
    out->path_len = strcspn(out->path, "\n");
    out->none = out->path_len == 1 && out->path[0] == JOB_IMAGE_NONE[0];
    return true;
}

size_t job_image_count(const char *text)
{
    struct job_image m;
    size_t n = 0;

    while (job_image_at(text, n, &m))
        n++;
    return n;
}

bool job_image_is_at(const struct job_image *m, const char *service)
{
    return strlen(service) == m->service_len && strncmp(service, m->service, m->service_len) == 0;
}

bool job_images_fit(const struct job *j)
{
    size_t n = job_image_count(j->restart_from);
    struct job_image m;

    if (!n || !j->run || j->run->n_hosts != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!job_image_at(j->restart_from, i, &m) ||
            (!m.none && !m.shared && !m.moves && !job_image_is_at(&m, j->run->hosts[i].service)))
            return false;
    return true;
}

void job_image_add(struct strbuf *out, const char *service, const char *id)
{
    strbuf_add_sep(out, "\n");
    strbuf_addf(out, "%s %s", service, id);
}
