/* ifl/spec and the words of commands: what people write, and what the parts say to each other in text. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acct_line.h"
#include "array_map.h"
#include "exec_host.h"
#include "exec_vnode.h"
#include "fuzz.h"
#include "idset.h"
#include "option_pairs.h"
#include "jobid.h"
#include "place.h"
#include "qmgr_line.h"
#include "job_script.h"
#include "select.h"
#include "select_old.h"
#include "strbuf.h"

enum { TEXT_MAX = 1 << 22 };

static void selects(const char *bytes, size_t n)
{
    struct err e;
    struct select *s = select_parse(bytes, NULL, NULL, &e), *again;
    struct strbuf one, two;

    if (!s)
        return;
    strbuf_init(&one, TEXT_MAX);
    strbuf_init(&two, TEXT_MAX);
    assert(select_format(s, &one) == 0);
    again = select_parse(strbuf_str(&one), NULL, NULL, &e);
    assert(again && select_format(again, &two) == 0 && strcmp(strbuf_str(&one), strbuf_str(&two)) == 0);
    select_destroy(again);
    select_destroy(s);
    strbuf_fini(&one);
    strbuf_fini(&two);
}

static void places(const char *bytes, size_t n)
{
    struct place p;
    struct err e;

    if (place_parse(bytes, &p, &e) == 0)
        assert(p.arrangement < PLACE_ARRANGEMENT_COUNT && p.sharing < PLACE_SHARING_COUNT);
}

static void exec_vnodes(const char *bytes, size_t n)
{
    struct err e;
    struct exec_vnode *v = exec_vnode_parse(bytes, &e), *again;
    struct exec_host *h = exec_host_parse(bytes, &e);
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    if (v) {
        assert(exec_vnode_format(v, &text) == 0);
        again = exec_vnode_parse(strbuf_str(&text), &e);
        assert(again && again->n == v->n);
        exec_vnode_destroy(again);
    }
    if (h) {
        strbuf_reset(&text);
        assert(exec_host_format(h, &text) == 0);
    }
    strbuf_fini(&text);
    exec_host_destroy(h);
    exec_vnode_destroy(v);
}

static void jobids(const char *bytes, size_t n)
{
    struct destination d;
    struct idset *indices;
    struct strbuf text;
    struct jobid id;
    struct err e;

    strbuf_init(&text, TEXT_MAX);
    if (jobid_parse(bytes, &id, &e) == 0) {
        assert(jobid_complete(&id, "svr", &text) == 0);
        jobid_check_indices(&id, &e);
        if (jobid_indices(&id, (struct idset_range){3, 10000, 7}, &indices, &e) == 0)
            idset_destroy(indices);
    }
    jobid_is_jobid(bytes);
    jobid_parse_destination(bytes, &d, &e);
    strbuf_fini(&text);
}

static void acct_lines(const char *bytes, size_t n)
{
    struct err e;
    struct acct_line *l = acct_line_parse(bytes, &e);

    if (l)
        acct_line_find(l, "user");
    acct_line_destroy(l);
}

static int any_property(void *context, const char *name)
{
    return name[0] == 'p';
}

static void old_nodes(const char *bytes, size_t n)
{
    struct strbuf select, place;
    struct err e;

    strbuf_init(&select, TEXT_MAX);
    strbuf_init(&place, TEXT_MAX);
    select_old_nodes(bytes, any_property, NULL, &select, &place, &e);
    strbuf_fini(&place);
    strbuf_fini(&select);
}

static int count_pair(void *context, const char *name, const char *value)
{
    size_t *n = context;

    *n += strlen(name) + (value ? strlen(value) : 0);
    return 0;
}

static void job_lists(const char *bytes, size_t n)
{
    const char *bad;
    size_t seen = 0;

    option_pairs_resources(bytes, count_pair, &seen, &bad);
    option_pairs_attributes(bytes, count_pair, &seen, &bad);
}

static int count_directive(void *context, const char *text)
{
    *(size_t *)context += strlen(text);
    return 0;
}

static void scripts(const char *bytes, size_t n)
{
    FILE *f = n ? fmemopen((char *)(uintptr_t)bytes, n, "r") : NULL;
    size_t seen = 0;
    struct err e;

    if (!f)
        return;
    job_script_scan(f, "#PBS", count_directive, &seen, &e);
    fclose(f);
}

static void qmgr_lines(const char *bytes, size_t n)
{
    struct qmgr_line_error fault;
    struct qmgr_line l;

    if (qmgr_line_parse(bytes, &l, &fault) < 0)
        assert(fault.at <= strlen(bytes));
    qmgr_line_fini(&l);
}

static void array_ranges(const char *bytes, size_t n)
{
    struct err e;
    struct array_map *m = array_map_create(bytes, 100000, &e);
    struct strbuf text;

    if (!m)
        return;
    strbuf_init(&text, TEXT_MAX);
    assert(array_map_size(m) >= 1 && array_map_size(m) <= 100000);
    assert(array_map_count(m, ARRAY_QUEUED) == array_map_size(m) &&
           array_map_format_queued(m, NULL, &text) == 0);
    strbuf_fini(&text);
    array_map_destroy(m);
}

static const struct fuzz_seed select_seeds[] = {
    FUZZ_SEED("2:ncpus=4:mem=2gb+1:ncpus=1"), FUZZ_SEED("ncpus=1"), FUZZ_SEED("3"),
    FUZZ_SEED("1:arch=\"a b\":host=n1"), FUZZ_SEED("1:arch=\"a'\"'\"'")};
static const struct fuzz_seed place_seeds[] = {FUZZ_SEED("scatter:excl"), FUZZ_SEED("pack:group=rack"),
                                               FUZZ_SEED("free:shared"), FUZZ_SEED("exclhost")};
static const struct fuzz_seed vnode_seeds[] = {FUZZ_SEED("(n1:ncpus=2:mem=1024kb)+(n2:ncpus=1+n3:ncpus=1)"),
                                               FUZZ_SEED("(a[0]:ncpus=1)"), FUZZ_SEED("n1/0*2+n2/1")};
static const struct fuzz_seed jobid_seeds[] = {FUZZ_SEED("41"), FUZZ_SEED("41[].svr"),
                                               FUZZ_SEED("41[1-5:2].svr@s2:15001"), FUZZ_SEED("workq@svr"),
                                               FUZZ_SEED("41[7]")};
static const struct fuzz_seed acct_seeds[] = {
    FUZZ_SEED(
        "11/21/2026 07:00:00;E;41.svr;user=anna group=g Resource_List.ncpus=2 jobname=\"a b\" Exit_status=0"),
    FUZZ_SEED("11/21/2026 07:00:00;Q;1.s;queue=workq")};
static const struct fuzz_seed old_seeds[] = {FUZZ_SEED("2:ppn=4"), FUZZ_SEED("n1+n2:ppn=2#shared"),
                                             FUZZ_SEED("3:p1:p2+n7")};
static const struct fuzz_seed word_seeds[] = {FUZZ_SEED("ncpus=4,mem=2gb,walltime=1:00:00"),
                                              FUZZ_SEED("depend=afterok:1:2,umask=022"),
                                              FUZZ_SEED("a=\"b,c\",d")};
static const struct fuzz_seed script_seeds[] = {
    FUZZ_SEED("#!/bin/sh\n#PBS -N x \\\n -l ncpus=1\n: no\necho\n#PBS -q y\n"), FUZZ_SEED("#PBS -l a\r\n"),
    FUZZ_SEED("\n\n#PBS")};
static const struct fuzz_seed line_seeds[] = {
    FUZZ_SEED("set queue workq,fast resources_max.ncpus += 4, comment = \"a, b\""),
    FUZZ_SEED("create resource gpu type=long,flag=nh"), FUZZ_SEED("p s @default"),
    FUZZ_SEED("unset server a,b.c"), FUZZ_SEED("import hook h application/x-python default f")};
static const struct fuzz_seed range_seeds[] = {FUZZ_SEED("0-10"), FUZZ_SEED("1-99999:7"), FUZZ_SEED("5-6")};

const struct fuzz fuzz_spec[] = {
    {"select", selects, FUZZ_SEEDS(select_seeds)},
    {"place", places, FUZZ_SEEDS(place_seeds)},
    {"exec_vnode", exec_vnodes, FUZZ_SEEDS(vnode_seeds)},
    {"jobid", jobids, FUZZ_SEEDS(jobid_seeds)},
    {"acct_line", acct_lines, FUZZ_SEEDS(acct_seeds)},
    {"select_old", old_nodes, FUZZ_SEEDS(old_seeds)},
    {"option_pairs", job_lists, FUZZ_SEEDS(word_seeds)},
    {"script", scripts, FUZZ_SEEDS(script_seeds)},
    {"qmgr_line", qmgr_lines, FUZZ_SEEDS(line_seeds)},
    {"array_map", array_ranges, FUZZ_SEEDS(range_seeds)},
    {NULL},
};
