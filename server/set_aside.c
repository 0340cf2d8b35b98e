/* Rows that cannot be understood, kept in files. See set_aside.h. The server starts even if a file cannot be written. */
#include "set_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "json_text.h"
#include "log.h"
#include "strbuf.h"

/* A name of a file has 255 bytes: this, the hash of one that is cut, and what a file has while it is written. */
enum { NAME_MAX_BYTES = 200, HASH_DIGITS = 16, TEXT_MAX_BYTES = 64 << 20 };

static void add_member(struct strbuf *out, const char *name, const char *text)
{
    json_text_add(out, name);
    strbuf_add_char(out, ':');
    json_text_add(out, text);
}

static void add_row(struct strbuf *out, const struct restore_error *f)
{
    strbuf_add_char(out, '{');
    add_member(out, "kind", f->kind);
    strbuf_add_char(out, ',');
    add_member(out, "name", f->name);
    strbuf_add_char(out, ',');
    add_member(out, "why", f->why);
    for (size_t i = 0; i < f->n; i++) {
        strbuf_add_char(out, ',');
        add_member(out, f->columns[i].name, f->columns[i].text);
    }
    strbuf_add(out, "}\n");
}

/* FNV-1a: equal hashes by chance are unlikely, and a damaged row does not come from an attacker. */
static uint64_t name_hash(const char *text)
{
    uint64_t h = 14695981039346656037u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

/* "job.12[].host": no name of an object leads out of the directory, and no two have one file. What is not a plain
 * character is written %XX; a name that is too long is cut and ends in "~" and a hash of the whole. */
static void file_name(const struct restore_error *f, char out[static NAME_MAX_BYTES])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[]@";
    const size_t most = NAME_MAX_BYTES - HASH_DIGITS - 2;
    size_t n = (size_t)snprintf(out, NAME_MAX_BYTES, "%s.", f->kind);

    for (const unsigned char *p = (const unsigned char *)f->name; *p; p++) {
        size_t need = strchr(plain, *p) ? 1 : 3;

        if (n + need > most) {
            snprintf(out + n, NAME_MAX_BYTES - n, "~%016" PRIx64, name_hash(f->name));
            return;
        }
        n += (size_t)snprintf(out + n, NAME_MAX_BYTES - n, need == 1 ? "%c" : "%%%02X", *p);
    }
}

static int write_row(const struct set_aside *s, const struct restore_error *f, char path[static 4600],
                     struct err *e)
{
    char name[NAME_MAX_BYTES];
    struct strbuf text;
    int rc;

    file_name(f, name);
    snprintf(path, 4600, "%.4096s/server_priv/set_aside", s->home);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_errno(e, errno, "%s", path);
    snprintf(path, 4600, "%.4096s/server_priv/set_aside/%s", s->home, name);
    strbuf_init(&text, TEXT_MAX_BYTES);
    add_row(&text, f);
    rc = text.failed ? err_no_memory(e)
                     : file_write_atomic(AT_FDCWD, path, strbuf_str(&text), text.len, 0600, e);
    strbuf_fini(&text);
    return rc;
}

void set_aside_row(void *arg, const struct restore_error *f)
{
    struct set_aside *s = arg;
    char path[4600];
    struct err e;

    log_event(LOGC_SVR, LOGE_ERROR, f->name, "the stored %s is %s: %s", f->kind,
              f->in_part ? "taken up in part" : "left out", f->why);
    if (!f->n || ++s->n > SET_ASIDE_FILES_MAX)
        return;
    if (write_row(s, f, path, &e) < 0)
        log_err(LOGC_SVR, f->name, &e, "its row is not set aside");
    else
        log_event(LOGC_SVR, LOGE_ERROR, f->name, "its row, as it was, is in %s", path);
}
