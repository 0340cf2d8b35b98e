/* The file is written before a server hears of what it says: the generation before the first HELLO, the epoch
 * before we obey it. So a number that was told is never told again after a crash. A file that cannot be read
 * stops the start, since a generation must only rise. */
#include "server_epoch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "file.h"

enum { TEXT_MAX = 1024 };

static int save(const struct server_epoch *f, struct err *e)
{
    char text[TEXT_MAX];
    int n = snprintf(text, sizeof text, "generation %" PRIu64 "\nepoch %" PRIu64 "\ninstance %s\nstore %s\n",
                     f->generation, f->epoch, f->instance, f->store);

    return file_write_atomic(AT_FDCWD, f->path, text, (size_t)n, 0600, e);
}

/* A file written before services had an instance lacks that line. */
static int server_epoch_parse(struct server_epoch *f, const char *text)
{
    if (sscanf(text, "generation %" SCNu64 " epoch %" SCNu64 " instance %32s store %255s", &f->generation,
               &f->epoch, f->instance, f->store) >= 3)
        return 0;
    f->instance[0] = '\0';
    return sscanf(text, "generation %" SCNu64 " epoch %" SCNu64 " store %255s", &f->generation, &f->epoch,
                  f->store) >= 2
               ? 0
               : -1;
}

static void make_instance(struct server_epoch *f)
{
    uint64_t id[2] = {0, 0};

    if (f->instance[0] || getrandom(id, sizeof id, 0) != sizeof id)
        return; /* without an instance the service is known by its host */
    snprintf(f->instance, sizeof f->instance, "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
}

int server_epoch_open(struct server_epoch *f, const char *path, struct err *e)
{
    char *text = NULL;
    struct err why = {0};

    *f = (struct server_epoch){.path = strdup(path)};
    if (!f->path)
        return err_no_memory(e);
    if (file_read(AT_FDCWD, path, TEXT_MAX, &text, NULL, &why) < 0 && why.code != ENOENT)
        return err_set(e, why.code, "%s", why.text);
    if (text && server_epoch_parse(f, text) < 0) {
        free(text);
        return err_set(e, EBADMSG, "%s is damaged; remove it when no job of this host is running", path);
    }
    free(text);
    f->generation++;
    make_instance(f);
    return save(f, e);
}

void server_epoch_close(struct server_epoch *f)
{
    free(f->path);
    *f = (struct server_epoch){0};
}

int server_epoch_obey(struct server_epoch *f, const char *store, uint64_t epoch, struct err *e)
{
    if (strcmp(f->store, store) == 0 && f->epoch == epoch)
        return 0;
    snprintf(f->store, sizeof f->store, "%s", store);
    f->epoch = epoch;
    return save(f, e);
}
