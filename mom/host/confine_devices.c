/* Rules of devices. The program of version 2 is made from the rules: for each, jump on to the next one where
 * something does not match; what no rule has let through is refused.
 *
 *     r2 = kind, r3 = access, r4 = major, r5 = minor        (struct bpf_cgroup_dev_ctx)
 *     per rule:  kind != K -> next; access & ~A -> next; major != M -> next; minor != N -> next; return 1
 *     return 0
 *
 * It goes with the group. It is added to what a group above may have (BPF_F_ALLOW_MULTI): both must agree. */
#include "confine_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "confine_group.h"

enum {
    RULE_MAX = 64,
    RULE_STEPS = 8, /* at most */
    PROLOGUE_STEPS = 6,
    PROGRAM_MAX = PROLOGUE_STEPS + CONFINE_DEVICES_MAX * RULE_STEPS + 2,
    KIND_MASK = 0xffff,
    ACCESS_SHIFT = 16,
    ANY = -1
};

const char confine_devices_usual[] = "c 1:3 rwm\nc 1:5 rwm\nc 1:7 rwm\nc 1:8 rwm\nc 1:9 rwm\n"
                                     "c 5:0 rwm\nc 5:2 rwm\nc 136:* rwm\n";

struct confine_devices_rule {
    int kind, access; /* BPF_DEVCG_* */
    long major, minor;
};

static int access_bit(char c)
{
    switch (c) {
    case 'r':
        return BPF_DEVCG_ACC_READ;
    case 'w':
        return BPF_DEVCG_ACC_WRITE;
    case 'm':
        return BPF_DEVCG_ACC_MKNOD;
    }
    return 0;
}

static int parse_access(const char *text, int *out)
{
    *out = 0;
    for (; *text; text++) {
        if (!access_bit(*text))
            return -1;
        *out |= access_bit(*text);
    }
    return *out ? 0 : -1;
}

static int parse_number(const char *text, long *out)
{
    char rest;

    if (strcmp(text, "*") == 0) {
        *out = ANY;
        return 0;
    }
    return sscanf(text, "%ld%c", out, &rest) == 1 && *out >= 0 ? 0 : -1;
}

static int parse_rule(const char *line, struct confine_devices_rule *r)
{
    char kind, major[16], minor[16], access[16], rest;

    if (sscanf(line, " %c %15[0-9*]:%15[0-9*] %15s %c", &kind, major, minor, access, &rest) != 4 ||
        (kind != 'b' && kind != 'c'))
        return -1;
    r->kind = kind == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
    return parse_number(major, &r->major) < 0 || parse_number(minor, &r->minor) < 0
               ? -1
               : parse_access(access, &r->access);
}

/* "/dev/fuse rw" */
static int parse_path(const char *text, char *out, size_t max, struct err *e)
{
    char path[256], access[16] = "rw", rest;
    struct stat st;
    int n = sscanf(text, "%255s %15s %c", path, access, &rest), bits;

    if (n < 1 || n > 2 || parse_access(access, &bits) < 0)
        return err_set(e, EINVAL, "\"%s\" does not have the form /dev/NAME rwm", text);
    if (stat(path, &st) < 0 || (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
        return err_set(e, EINVAL, "%s is not a device of this host", path);
    snprintf(out, max, "%c %u:%u %s", S_ISBLK(st.st_mode) ? 'b' : 'c', major(st.st_rdev), minor(st.st_rdev),
             access);
    return 0;
}

int confine_devices_parse(const char *text, char *out, size_t max, struct err *e)
{
    struct confine_devices_rule r;

    if (text[0] == '/')
        return parse_path(text, out, max, e);
    if (strlen(text) >= RULE_MAX || parse_rule(text, &r) < 0)
        return err_set(
            e, EINVAL,
            "\"%s\" is not a rule for devices: \"/dev/NAME rw\", or \"c MAJOR:MINOR rwm\" with b or c, * for any number",
            text);
    snprintf(out, max, "%s", text);
    return 0;
}

/* The next line; false: there is none. */
static bool next_rule(const char **at, char line[static RULE_MAX])
{
    size_t n = strcspn(*at, "\n");

    if (!n)
        return false;
    snprintf(line, RULE_MAX, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == '\n');
    return true;
}

int confine_devices_set_v1(const char *dir, const char *rules, struct err *e)
{
    char line[RULE_MAX];

    if (confine_group_write(dir, "devices.deny", "a") < 0)
        return err_errno(e, errno, "cannot refuse devices to cgroup %s", dir);
    for (const char *at = rules; next_rule(&at, line);)
        if (confine_group_write(dir, "devices.allow", line) < 0)
            return err_errno(e, errno, "cannot allow device \"%s\" to cgroup %s", line, dir);
    return 0;
}

/* ---- version 2 */
struct confine_devices_program {
    struct bpf_insn steps[PROGRAM_MAX];
    size_t n;
};

static struct bpf_insn *confine_devices_add(struct confine_devices_program *p, uint8_t code, uint8_t reg,
                                            int32_t value)
{
    struct bpf_insn *s = &p->steps[p->n++];

    *s = (struct bpf_insn){.code = code, .dst_reg = reg & 0xf, .imm = value};
    return s;
}

static void load(struct confine_devices_program *p, uint8_t reg, size_t field)
{
    struct bpf_insn *s = confine_devices_add(p, BPF_LDX | BPF_MEM | BPF_W, reg, 0);

    s->src_reg = BPF_REG_1;
    s->off = (int16_t)field;
}

static void confine_devices_give_back(struct confine_devices_program *p, int value)
{
    confine_devices_add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, value);
    confine_devices_add(p, BPF_JMP | BPF_EXIT, 0, 0);
}

/* All jumps from `from` on lead behind what is there now. */
static void close_jumps(struct confine_devices_program *p, size_t from)
{
    for (size_t i = from; i < p->n; i++)
        if (BPF_CLASS(p->steps[i].code) == BPF_JMP && BPF_OP(p->steps[i].code) != BPF_EXIT)
            p->steps[i].off = (int16_t)(p->n - i - 1);
}

static void add_rule(struct confine_devices_program *p, const struct confine_devices_rule *r)
{
    size_t from = p->n;
    int refused = (BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE | BPF_DEVCG_ACC_MKNOD) & ~r->access;

    confine_devices_add(p, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, r->kind);
    if (refused)
        confine_devices_add(p, BPF_JMP | BPF_JSET | BPF_K, BPF_REG_3, refused);
    if (r->major != ANY)
        confine_devices_add(p, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_4, (int32_t)r->major);
    if (r->minor != ANY)
        confine_devices_add(p, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_5, (int32_t)r->minor);
    confine_devices_give_back(p, 1);
    close_jumps(p, from);
}

static int make_program(struct confine_devices_program *p, const char *rules, struct err *e)
{
    char line[RULE_MAX];
    size_t n = 0;
    struct confine_devices_rule r;

    load(p, BPF_REG_2, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    load(p, BPF_REG_3, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    load(p, BPF_REG_4, offsetof(struct bpf_cgroup_dev_ctx, major));
    load(p, BPF_REG_5, offsetof(struct bpf_cgroup_dev_ctx, minor));
    confine_devices_add(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_2, KIND_MASK);
    confine_devices_add(p, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_3, ACCESS_SHIFT);
    for (const char *at = rules; next_rule(&at, line); n++) {
        if (n == CONFINE_DEVICES_MAX || parse_rule(line, &r) < 0)
            return err_set(e, EINVAL, "\"%s\" is not a rule for devices, or one of more than %d", line,
                           CONFINE_DEVICES_MAX);
        add_rule(p, &r);
    }
    confine_devices_give_back(p, 0);
    return 0;
}

static int load_program(const struct confine_devices_program *p)
{
    union bpf_attr a;

    memset(&a, 0, sizeof a);
    a.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    a.insns = (uint64_t)(uintptr_t)p->steps;
    a.insn_cnt = (uint32_t)p->n;
    a.license = (uint64_t)(uintptr_t) "MIT";
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof a);
}

static int attach(int group, int program)
{
    union bpf_attr a;

    memset(&a, 0, sizeof a);
    a.target_fd = (uint32_t)group;
    a.attach_bpf_fd = (uint32_t)program;
    a.attach_type = BPF_CGROUP_DEVICE;
    a.attach_flags = BPF_F_ALLOW_MULTI;
    return (int)syscall(SYS_bpf, BPF_PROG_ATTACH, &a, sizeof a);
}

int confine_devices_set_v2(const char *dir, const char *rules, struct err *e)
{
    struct confine_devices_program p = {.n = 0};
    int program, group, rc = -1;

    if (make_program(&p, rules, e) < 0)
        return -1;
    program = load_program(&p);
    group = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (program < 0 || group < 0 || attach(group, program) < 0)
        err_errno(e, errno, "cannot keep devices from cgroup %s", dir);
    else
        rc = 0;
    if (program >= 0)
        close(program);
    if (group >= 0)
        close(group);
    return rc;
}

bool confine_devices_work_v2(const char *dir)
{
    return confine_devices_set_v2(dir, confine_devices_usual, NULL) == 0;
}
