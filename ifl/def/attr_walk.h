#ifndef ATTR_WALK_H
#define ATTR_WALK_H
/* From attribute lists to the wire and the store: text triples and JSON. */
#include "attr_list.h"
#include "attr_select.h"

struct strbuf;

/* Who reads. */
struct attr_reader {
    enum level level;
    bool show_hidden; /* the server's show_hidden_attribs */
    /* AF_PRIVATE attributes are shown only of jobs of this owner (user@host); NULL: of all. Set by the code that
     * walks objects (server/publish/attrib_render.c): a list does not know the owner of its job. */
    const char *only_of;
    bool presets; /* defaults that hold for attributes that are not set are shown too */
};

/* Called with each triple; resource is NULL where there is none. The texts are borrowed for the call; name and
 * resource live on. Not 0 ends the walk and is handed through. */
typedef int attr_walk_fn(void *arg, const char *name, const char *resource, const char *value);

/* All that is set, selected and may be read by `r`, in the order of the definitions. `scratch` holds texts that
 * must be made; nothing is allocated once it has grown. Returns what `fn` returned; -1 if scratch failed. */
int attr_walk(const struct attr_list *l, const struct resource_table *t, const struct attr_select *s,
              const struct attr_reader *r, struct strbuf *scratch, attr_walk_fn *fn, void *arg);

/* One value alone, in the same way: for derived attributes and sums that lie elsewhere. */
int attr_walk_value(enum attr_of of, int index, const struct value *v, const struct resource_table *t,
                    const struct attr_select *s, const struct attr_reader *r, struct strbuf *scratch,
                    attr_walk_fn *fn, void *arg);

/* The attributes that have all flags of `with` and none of `without` (enum attr_flag; AF_DERIVED is never
 * stored) as a JSON object: {"Priority": 5, "Resource_List": {"ncpus": 1}}. The caller unrefs. NULL: no memory. */
struct json_t *attr_walk_to_json(const struct attr_list *l, const struct resource_table *t, unsigned with,
                                 unsigned without);

/* Put every member of the object, a text that is written to (json_scan.h), into the list, over what is there. A value that
 * came from a default is marked so ("defaulted" lists them). The members that can be read are taken even if others cannot.
 * -1: one could not, or the text is not an object; e has what was wrong first: PBSE_NOATTR, PBSE_UNKRESC, PBSE_BADATVAL with
 * the name. */
int attr_walk_read(struct attr_list *l, const struct resource_table *t, char *json, struct err *e);

#endif
