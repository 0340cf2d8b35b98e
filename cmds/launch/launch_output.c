/* Without labels bytes are passed on as they come. With labels each stream of each rank keeps its unfinished line, so lines of two ranks
 * never mix; a line is written when its end has come, when it is longer than LINE_KEPT_MAX, or at the end of the launch. */
#include "launch_output.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "byte_buf.h"

enum { LINE_KEPT_MAX = 65536 }; /* a line without end is cut here */

struct launch_output {
    unsigned n_ranks;
    bool label;
    int width;
    struct byte_buf (*lines)[2]; /* of each rank; NULL without labels */
};

static int digits(unsigned n)
{
    int d = 1;

    for (; n >= 10; n /= 10)
        d++;
    return d;
}

struct launch_output *launch_output_create(unsigned n_ranks, bool label)
{
    struct launch_output *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->n_ranks = n_ranks;
    o->label = label;
    o->width = digits(n_ranks - 1);
    if (label && !(o->lines = calloc(n_ranks, sizeof *o->lines))) {
        free(o);
        return NULL;
    }
    return o;
}

/* A reader that is slow is waited for, and the ranks wait with us; after one that has gone the launch still continues. */
static void put(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(fd, bytes, n);

        if (done < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};

            (void)poll(&p, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            return;
        } else if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
}

static void put_line(const struct launch_output *o, unsigned rank, bool is_error, struct byte_buf *l)
{
    char head[32];
    int n = snprintf(head, sizeof head, "%*u: ", o->width, rank);
    int fd = is_error ? STDERR_FILENO : STDOUT_FILENO;

    put(fd, head, (size_t)n);
    put(fd, l->bytes, l->len);
    if (l->len == 0 || l->bytes[l->len - 1] != '\n')
        put(fd, "\n", 1);
    byte_buf_clear(l);
}

static void take_lines(struct launch_output *o, unsigned rank, bool is_error, const char *bytes, size_t n)
{
    struct byte_buf *l = &o->lines[rank][is_error];

    while (n) {
        const char *end = memchr(bytes, '\n', n);
        size_t k = end ? (size_t)(end - bytes) + 1 : n;

        if (l->len + k > LINE_KEPT_MAX && l->len)
            put_line(o, rank, is_error, l);
        if (k > LINE_KEPT_MAX)
            k = LINE_KEPT_MAX;
        /* without memory for a longer line, what there is is a line */
        if (byte_buf_add(l, bytes, k) < 0 || l->bytes[l->len - 1] == '\n')
            put_line(o, rank, is_error, l);
        bytes += k;
        n -= k;
    }
}

void launch_output_take(struct launch_output *o, unsigned rank, bool is_error, const char *bytes, size_t n)
{
    if (o->label && rank < o->n_ranks)
        take_lines(o, rank, is_error, bytes, n);
    else
        put(is_error ? STDERR_FILENO : STDOUT_FILENO, bytes, n);
}

void launch_output_destroy(struct launch_output *o)
{
    if (!o)
        return;
    for (unsigned r = 0; o->lines && r < o->n_ranks; r++)
        for (int i = 0; i < 2; i++) {
            if (o->lines[r][i].len)
                put_line(o, r, i, &o->lines[r][i]);
            byte_buf_fini(&o->lines[r][i]);
        }
    free(o->lines);
    free(o);
}
