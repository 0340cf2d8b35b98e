/* Hosts from vnodes. See host_merge.h.
 *
 * Everything is text here, as it came from the server: an amount is what looks like one (digits, perhaps a
 * unit) under a name that holds amounts. A sum that meets something else becomes "<various>" and stays so.
 * Hosts come in the order of their first vnode; each vnode is compared with all before it, which is enough
 * for a table that people read. */
#include "host_merge.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "attrl.h"
#include "status_read.h"

#define VARIOUS "<various>"

static const char *host_merge_value_of(const struct batch_status *b, const char *name, const char *resource)
{
    for (const struct attrl *a = b->attribs; a; a = a->next)
        if (!strcasecmp(a->name, name) && (!resource || (a->resource && !strcasecmp(a->resource, resource))))
            return a->value;
    return NULL;
}

static const char *host_merge_host_of(const struct batch_status *b)
{
    const char *host = host_merge_value_of(b, "resources_available", "host");

    return host ? host : b->name;
}

static bool host_merge_is_wanted(const struct attrl *a, const struct attrl *wanted)
{
    if (!wanted)
        return true;
    for (; wanted; wanted = wanted->next)
        if (!strcasecmp(wanted->name, a->name) && (!wanted->resource || !*wanted->resource || !a->resource ||
                                                   !strcasecmp(wanted->resource, a->resource)))
            return true;
    return false;
}

/* An amount: digits, and for a size its unit. *kb: it has one. */
static bool host_merge_read_amount(const char *text, long long *n, bool *is_size)
{
    static const char units[] = "kmgtp";
    const char *unit;
    char *end;

    *n = strtoll(text, &end, 10);
    *is_size = false;
    if (end == text || *n < 0)
        return false;
    if (!*end)
        return true;
    *is_size = true;
    if (!strcasecmp(end, "b")) {
        *n = (*n + 1023) / 1024;
        return true;
    }
    unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (!unit || strcasecmp(end + 1, "b") != 0)
        return false;
    for (; unit > units && *n < (1LL << 52); unit--)
        *n *= 1024;
    return true;
}

static char *sum(const char *a, const char *b)
{
    long long x, y;
    bool size_x, size_y;
    char text[32];

    if (!host_merge_read_amount(a, &x, &size_x) || !host_merge_read_amount(b, &y, &size_y) ||
        size_x != size_y)
        return strdup(VARIOUS);
    (void)snprintf(text, sizeof text, "%lld%s", x + y, size_x ? "kb" : "");
    return strdup(text);
}

static bool is_amount(const struct attrl *a)
{
    return a->resource && (!strcmp(a->name, "resources_available") || !strcmp(a->name, "resources_assigned"));
}

/* One more vnode's value of an attribute that the host has already. */
static int merge_value(struct attropl *into, const struct attrl *from)
{
    long long n;
    bool size;
    char *v;

    if (is_amount(from) && host_merge_read_amount(into->value, &n, &size))
        v = sum(into->value, from->value);
    else if (strcmp(into->value, from->value) != 0)
        v = strdup(VARIOUS);
    else
        return 0;
    if (!v)
        return -1;
    free(into->value);
    into->value = v;
    return 0;
}

static int merge_vnode(struct attropl **into, const struct batch_status *b, const struct attrl *wanted)
{
    for (const struct attrl *a = b->attribs; a; a = a->next) {
        struct attropl *have;
        int rc;

        if (!host_merge_is_wanted(a, wanted))
            continue;
        have = attrl_find(*into, a->name, a->resource);
        rc = have ? merge_value(have, a) : attrl_append(into, a->name, a->resource, a->value, SET);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static bool is_first_of_host(const struct batch_status *all, const struct batch_status *b)
{
    for (; all != b; all = all->next)
        if (!strcasecmp(host_merge_host_of(all), host_merge_host_of(b)))
            return false;
    return true;
}

static struct batch_status *merge_host(const struct batch_status *first, const struct attrl *wanted)
{
    struct attropl *attrs = NULL;
    struct batch_status *out = NULL;
    int rc = 0;

    for (const struct batch_status *b = first; b && rc == 0; b = b->next)
        if (!strcasecmp(host_merge_host_of(b), host_merge_host_of(first)))
            rc = merge_vnode(&attrs, b, wanted);
    if (rc == 0)
        out = status_read_node_create(host_merge_host_of(first), attrs);
    attrl_free(attrs);
    return out;
}

int host_merge(const struct batch_status *vnodes, const char *host, const struct attrl *wanted,
               struct batch_status **out)
{
    struct batch_status *head = NULL, **tail = &head;

    for (const struct batch_status *b = vnodes; b; b = b->next) {
        if (host && *host && strcasecmp(host_merge_host_of(b), host) != 0)
            continue;
        if (!is_first_of_host(vnodes, b))
            continue;
        *tail = merge_host(b, wanted);
        if (!*tail) {
            pbs_statfree(head);
            return -1;
        }
        tail = &(*tail)->next;
    }
    *out = head;
    return 0;
}
