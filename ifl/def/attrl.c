/* The public attribute lists. See attrl.h.
 *
 * PBS has two structs of one layout, which is asserted; all code here is for the longer name. An element
 * is four blocks, wasteful and promised: callers of the interface free and replace its strings. */
#include "attrl.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static_assert(sizeof(struct attrl) == sizeof(struct attropl) &&
                  offsetof(struct attrl, value) == offsetof(struct attropl, value) &&
                  offsetof(struct attrl, op) == offsetof(struct attropl, op),
              "attrl and attropl have one layout");

static void free_one(struct attropl *a)
{
    free(a->name);
    free(a->resource);
    free(a->value);
    free(a);
}

struct attropl *attrl_create(const char *name, const char *resource, const char *value, enum batch_op op)
{
    struct attropl *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->name = strdup(name);
    a->resource = resource ? strdup(resource) : NULL;
    a->value = strdup(value ? value : "");
    a->op = op;
    if (!a->name || !a->value || (resource && !a->resource)) {
        free_one(a);
        return NULL;
    }
    return a;
}

/* Append at `*tail`, which is &head of an empty list at first. -1: no memory. */
static int attrl_append_at(struct attropl ***tail, const char *name, const char *resource, const char *value,
                           enum batch_op op)
{
    struct attropl *a = attrl_create(name, resource, value, op);

    if (!a)
        return -1;
    **tail = a;
    *tail = &a->next;
    return 0;
}

int attrl_append(struct attropl **head, const char *name, const char *resource, const char *value,
                 enum batch_op op)
{
    while (*head)
        head = &(*head)->next;
    return attrl_append_at(&head, name, resource, value, op);
}

struct attropl *attrl_find(struct attropl *head, const char *name, const char *resource)
{
    for (; head; head = head->next) {
        if (strcasecmp(head->name, name) == 0 &&
            (!resource || (head->resource && strcasecmp(head->resource, resource) == 0)))
            return head;
    }
    return NULL;
}

void attrl_free(struct attropl *head)
{
    while (head) {
        struct attropl *next = head->next;
        free_one(head);
        head = next;
    }
}
