#ifndef JOB_IMAGE_H
#define JOB_IMAGE_H
/* Where the last checkpoint of a job lies: a line for each host of the run that was saved, in the order of its hosts.
 *
 *   mom:n1 /var/spool/pbs/checkpoint/7.s.CK/00000001.2.1
 *   mom:n2 shared:/lustre/ckpt/7.s.CK/00000001.2.1      other hosts reach it as well
 *   mom:n4 moves:/var/spool/pbs/checkpoint/7.s.CK/00000001   another host can fetch it from there
 *   mom:n3 -                                            the job had given this host back
 *
 * The first host of the next run is restarted from the first line, and so on: so the next run must have as many hosts.
 * Pure; the text is the job's `restart_from` (run_checkpoint.c). */
#include <stdbool.h>
#include <stddef.h>

struct job;
struct strbuf;

struct job_image { /* borrowed from the text */
    const char *service, *path;
    size_t service_len, path_len;
    bool shared, moves, none; /* none: that host had nothing to save */
};

#define JOB_IMAGE_NONE "-"

/* Line `i` from 0; false: there is none. */
bool job_image_at(const char *text, size_t i, struct job_image *out);
size_t job_image_count(const char *text); /* NULL has 0 */
bool job_image_is_at(const struct job_image *m, const char *service);

/* Return true if every host of the job's run can be restarted from its images: each line is of the host that is
 * to have it, or is shared, or moves. */
bool job_images_fit(const struct job *j);

/* Append one line; `id` as the host reported it. */
void job_image_add(struct strbuf *out, const char *service, const char *id);

#endif
