/* One errand a job packs, as its owner; asked again from the beginning, it begins again. All that is kept in memory is who
 * waits for it: a MOM that was restarted serves as well. */
#include "image_out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shep.h>
#include <sis.h>

#include "mom_config.h"
#include "file.h"
#include "mom_home.h"
#include "images.h"
#include "log.h"
#include "loop.h"
#include "pbs_error.h"
#include "sis_pieces.h"
#include "rpc_request.h"
#include "mom_run.h"
#include "spawn.h"
#include "strbuf.h"

enum { PATH_LEN_MAX = 8192, KEY_TEXT_MAX = 128 };

struct packing {
    struct image_out *all;
    struct packing *next;
    char *id;
    struct rpc_request *q;
    struct spawn *process;
    int fd;
};

struct image_out {
    struct loop *loop;
    const struct home *home;
    struct packing *first;
};

struct owner {
    unsigned uid, gid;
};

struct image_out *image_out_create(struct loop *l, const struct home *h, struct err *e)
{
    struct image_out *o = calloc(1, sizeof *o);

    if (o)
        *o = (struct image_out){.loop = l, .home = h};
    else
        err_set(e, ENOMEM, "no memory for images that go to other hosts");
    return o;
}

static void packing_free(struct packing *p)
{
    for (struct packing **at = &p->all->first; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    if (p->process && spawn_is_running(p->process))
        spawn_signal_group(p->process, SIGKILL);
    spawn_destroy(p->process);
    if (p->fd >= 0)
        close(p->fd);
    if (p->q)
        rpc_request_unref(p->q);
    free(p->id);
    free(p);
}

void image_out_destroy(struct image_out *o)
{
    if (!o)
        return;
    while (o->first)
        packing_free(o->first);
    free(o);
}

static void image_out_path_of(struct strbuf *out, const struct home *h, const char *id, const char *name)
{
    images_dir(h, id, out);
    strbuf_addf(out, "/%s", name);
}

/* ---- the offer */
static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *x;
    bool empty = d != NULL;

    while (d && (x = readdir(d)))
        empty &= strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0;
    if (d)
        closedir(d);
    return empty;
}

static int write_key(const struct home *h, const struct run *r, struct err *e)
{
    struct strbuf path, text;
    int n_key, rc = -1;
    const char *key = run_files_key(r, &n_key);

    strbuf_init(&path, PATH_LEN_MAX);
    strbuf_init(&text, KEY_TEXT_MAX);
    image_out_path_of(&path, h, r->id, "KEY");
    strbuf_add_bytes(&text, key, (size_t)n_key);
    strbuf_addf(&text, " %s %s\n", r->owner_uid, r->owner_gid);
    if (n_key && strbuf_ok(&text))
        rc = file_write_atomic(AT_FDCWD, strbuf_str(&path), text.s, text.len, 0600, e);
    strbuf_fini(&path);
    strbuf_fini(&text);
    return rc;
}

/* There is more to it than what the program has saved. */
static bool leaves_more(const struct home *h, const struct run *r)
{
    const char *brought = run_attr(r, "stagein", "");

    return images_are_joint(r) || r->jobdir || (brought && brought[0]) ||
           h->config->actions[ACTION_RESTART].argv.n;
}

bool image_out_offer(const struct home *h, const struct run *r)
{
    struct strbuf path;
    struct err e = {0};
    bool may;

    if (leaves_more(h, r))
        return false;
    strbuf_init(&path, PATH_LEN_MAX);
    images_path(h, r, &path);
    may = is_empty(strbuf_str(&path));
    strbuf_fini(&path);
    if (!may || write_key(h, r, &e) == 0)
        return may;
    log_err(LOGC_FIL, r->id, &e, "the image stays on this host");
    return false;
}

/* ---- serving */
static int check_key(const struct home *h, const sis_fetch_args *a, struct owner *out)
{
    struct strbuf path;
    char *text = NULL, *blank;
    int rc = -1;

    strbuf_init(&path, PATH_LEN_MAX);
    image_out_path_of(&path, h, a->id, "KEY");
    if (file_read(AT_FDCWD, strbuf_str(&path), KEY_TEXT_MAX, &text, NULL, NULL) == 0 &&
        (blank = strchr(text, ' '))) {
        *blank = '\0';
        rc = a->key[0] && strcmp(text, a->key) == 0 && sscanf(blank + 1, "%u %u", &out->uid, &out->gid) == 2
                 ? 0
                 : -1;
    }
    free(text);
    strbuf_fini(&path);
    return rc;
}

static int open_pack(const struct home *h, const char *id, int flags)
{
    struct strbuf path;
    int fd;

    strbuf_init(&path, PATH_LEN_MAX);
    image_out_path_of(&path, h, id, "pack");
    fd = open(strbuf_str(&path), flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    strbuf_fini(&path);
    return fd;
}

static void remove_pack(const struct home *h, const char *id)
{
    struct strbuf path;

    strbuf_init(&path, PATH_LEN_MAX);
    image_out_path_of(&path, h, id, "pack");
    unlink(strbuf_str(&path));
    strbuf_fini(&path);
}

static void image_out_on_packed(void *arg, int status)
{
    struct packing *p = arg;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        sis_pieces_reply(p->q, p->fd, 0);
    } else {
        log_event(LOGC_JOB, LOGE_ERROR, p->id, "its image cannot be packed for another host");
        remove_pack(p->all->home, p->id);
        sis_pieces_refuse(p->q, PBSE_SYSTEM, "the image cannot be packed");
    }
    packing_free(p);
}

static struct packing *packing_find(const struct image_out *o, const char *id)
{
    struct packing *p = o->first;

    while (p && strcmp(p->id, id) != 0)
        p = p->next;
    return p;
}

static int image_out_start(struct packing *p, const struct owner *who, struct err *e)
{
    struct image_out *o = p->all;
    char verb[] = "pack", uid[12], gid[12];
    struct strbuf dir;
    const int fds[] = {-1, p->fd, -1};
    char *argv[] = {o->home->shepherd, verb, uid, gid, NULL, NULL};
    const struct spawn_options so = spawn_own(argv, fds, 3);

    snprintf(uid, sizeof uid, "%u", who->uid);
    snprintf(gid, sizeof gid, "%u", who->gid);
    strbuf_init(&dir, PATH_LEN_MAX);
    image_out_path_of(&dir, o->home, p->id, "app");
    strbuf_str(&dir);
    argv[4] = dir.s;
    p->process = spawn_start(o->loop, &so, image_out_on_packed, p, e);
    strbuf_fini(&dir);
    return p->process ? 0 : -1;
}

static void pack(struct image_out *o, const char *id, const struct owner *who, struct rpc_request *q)
{
    struct packing *p = packing_find(o, id);
    struct err e = {0};

    if (p) { /* the host that asked has given up waiting, or lost its connection */
        sis_pieces_refuse(p->q, PBSE_SYSTEM, "asked for again");
        packing_free(p);
    }
    p = calloc(1, sizeof *p);
    if (!p) {
        sis_pieces_refuse(q, PBSE_SYSTEM, "no memory");
        return;
    }
    *p = (struct packing){.all = o, .next = o->first, .id = strdup(id), .q = rpc_request_ref(q)};
    o->first = p;
    remove_pack(o->home, id); /* what was killed above may still be writing into that one */
    p->fd = open_pack(o->home, id, O_RDWR | O_CREAT | O_EXCL);
    if (!p->id || p->fd < 0)
        err_errno(&e, errno, "cannot write the pack");
    if (e.code || image_out_start(p, who, &e) < 0) {
        log_err(LOGC_JOB, id, &e, "its image cannot be packed for another host");
        sis_pieces_refuse(q, PBSE_SYSTEM, e.text);
        packing_free(p);
    }
}

static void serve_piece(const struct image_out *o, const sis_fetch_args *a, struct rpc_request *q)
{
    int fd = open_pack(o->home, a->id, O_RDONLY);

    if (fd < 0) {
        sis_pieces_refuse(q, PBSE_SYSTEM, "it is not packed any more");
        return;
    }
    sis_pieces_reply(q, fd, a->offset);
    close(fd);
}

void image_out_serve(struct image_out *o, struct rpc_request *q)
{
    const sis_fetch_args *a = rpc_request_args(q);
    const struct auth_peer *peer = rpc_request_peer(q);
    struct owner who;

    if (strchr(a->id, '/') || peer->kind != AUTH_DAEMON || check_key(o->home, a, &who) < 0) {
        log_event(LOGC_JOB, LOGE_ERROR | LOGE_SECURITY, a->id,
                  "refused its image to %s (%s): not the job's key", peer->role, peer->from);
        sis_pieces_refuse(q, PBSE_PERM, "no image of that job is here for you");
    } else if (a->done) {
        log_event(LOGC_JOB, LOGE_DEBUG, a->id, "%s has fetched its image", peer->role);
        remove_pack(o->home, a->id);
        sis_pieces_refuse(q, 0, "");
    } else if (a->offset) {
        serve_piece(o, a, q);
    } else {
        pack(o, a->id, &who, q);
    }
}
