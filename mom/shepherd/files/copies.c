/* Names are the job owner's: each command is a string of its own, cut where it is too long, so that nothing in a name
 * can look like another line. */
#include "copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <shep.h>

#include "clock.h"
#include "rpc_buf.h"

enum { COMMAND_MAX = 1024 };

void copies_init(struct copies *c)
{
    *c = (struct copies){.begin_ms = clock_real_mono_ms()};
    strbuf_init(&c->text, PBS_TEXT_MAX);
}

static int code_of(int status)
{
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void copies_tried(struct copies *c, const struct copies_try *t)
{
    char line[COMMAND_MAX + 64]; /* names may be cut, the outcome is not */
    int n = snprintf(line, COMMAND_MAX, "command: %s %s %s %s", t->program, t->args, t->from, t->to);
    size_t at = n < COMMAND_MAX ? (size_t)(n > 0 ? n : 0) : COMMAND_MAX - 1;

    if (c->n_commands == COPIES_COMMANDS)
        return;
    snprintf(line + at, sizeof line - at, " status=%d, try=%d", code_of(t->status), t->n);
    c->commands[c->n_commands] = strdup(line);
    c->n_commands += c->commands[c->n_commands] != NULL;
}

void copies_result(struct copies *c, struct shep_close_result *r)
{
    struct shep_copied done = {.copied = c->of > (unsigned)c->failed ? c->of - (unsigned)c->failed : 0,
                               .of = c->of,
                               .took_ms = (u_quad_t)(clock_real_mono_ms() - c->begin_ms),
                               .commands = {c->n_commands, c->commands}};
    struct byte_buf b;

    *r = (struct shep_close_result){.failed = c->failed, .text = strbuf_take(&c->text)};
    if (!r->text)
        r->text = strdup("");
    byte_buf_init(&b);
    if (rpc_buf_encode(&b, (xdrproc_t)xdr_shep_copied, &done) == 0 && b.len <= PBS_EXT_MAX &&
        (r->ext.wire_ext_val = malloc(b.len)) != NULL) {
        memcpy(r->ext.wire_ext_val, b.bytes, b.len);
        r->ext.wire_ext_len = (u_int)b.len;
    }
    byte_buf_fini(&b);
    strbuf_fini(&c->text);
    for (unsigned i = 0; i < c->n_commands; i++)
        free(c->commands[i]);
    c->n_commands = 0;
}
