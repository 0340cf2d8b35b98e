/* The steps of every command: --version and --help, when they are alone; the options, each of which may report an
 * error and let the rest be read; the usage, if any did; else `run`; then the flush. A flush that fails (a full disk,
 * a closed pipe) is a failure of the command. The shell sees eight bits of the result. */
#include "cmd.h"

#include <stdarg.h>
#include <strings.h>

#include "conf.h"
#include "strbuf.h"

int cmd_error(const struct cmd_args *a, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "%s: ", cmd_name(a));
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return -1;
}

void cmd_hint(const char *fmt, ...)
{
    va_list ap;

    fputc('\t', stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void cmd_illegal_value(struct cmd_args *a, const struct option_row *row)
{
    a->errors++;
    fprintf(stderr, "%s: illegal -%c value\n", cmd_name(a), row->letter);
}

void cmd_hint_row(const struct option_row *row)
{
    cmd_hint("right is: -%c %s   %s", row->letter, row->value ? row->value : "", row->help);
}

int cmd_bad_value(struct cmd_args *a, const struct option_row *row)
{
    cmd_illegal_value(a, row);
    cmd_hint_row(row);
    return 0;
}

int cmd_usage(const struct cmd_args *a)
{
    fputs(a->cmd->usage, stderr);
    fprintf(stderr, "       %s --version\n", cmd_name(a));
    return a->cmd->usage_exit;
}

int cmd_take_flag(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    *(bool *)((char *)settings + row->id) = true;
    return 0;
}

int cmd_take_format(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    const bool json = strcasecmp(value, "json") == 0;

    if (!json && strcasecmp(value, "default") != 0)
        return cmd_bad_value(settings, row);
    *(bool *)((char *)settings + row->id) = json;
    return 0;
}

int cmd_take_text(void *settings, const struct option_row *row, const char *value, struct err *e)
{
    *(const char **)((char *)settings + row->id) = value;
    return 0;
}

static int help(const struct cmd *c)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 16);
    options_usage(&c->options, &text);
    fputs(strbuf_str(&text), stdout);
    strbuf_fini(&text);
    return 0;
}

/* The shell sees a byte: a PBSE_ number is cut to it, but a failure never looks like success. */
static int exit_code(int rc)
{
    return rc && !(rc & 255) ? 1 : rc & 255;
}

static int cmd_run(const struct cmd *c, struct cmd_args *settings, int argc, char *argv[])
{
    struct err e;
    int first;

    settings->cmd = c;
    settings->argv = argv;
    if (options_parse(&c->options, argc, argv, &first, settings, &e) < 0) {
        cmd_error(settings, "%s", e.text);
        return cmd_usage(settings);
    }
    if (settings->errors)
        return cmd_usage(settings);
    return c->run(settings, argc - first, argv + first);
}

int cmd_main(const struct cmd *c, int argc, char *argv[])
{
    struct cmd_args *settings;
    int rc;

    if (argc == 2 && !strcasecmp(argv[1], "--version"))
        return conf_print_version();
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return help(c);
    settings = calloc(1, c->size);
    if (!settings) {
        fprintf(stderr, "%s: no memory\n", c->options.program);
        return 1;
    }
    rc = exit_code(cmd_run(c, settings, argc, argv));
    if (c->fini)
        c->fini(settings);
    free(settings);
    if (fflush(stdout) == EOF || ferror(stdout)) {
        perror(c->options.program);
        rc = rc ? rc : 1;
    }
    return rc;
}

const char *cmd_rule_broken(const struct cmd_rule *rules, size_t n, unsigned given)
{
    for (size_t i = 0; i < n; i++) {
        const struct cmd_rule *r = &rules[i];

        if ((given & r->all) == r->all && (!r->any || given & r->any) && !(given & r->none) &&
            (!r->two || __builtin_popcount(given & r->two) > 1))
            return r->text;
    }
    return NULL;
}
