/* Variable_List of a job. See variable_list.h. */
#include "variable_list.h"

#include <string.h>

#include "pbs_error.h"
#include "strbuf.h"
#include "type_list.h"

enum { TEXT_LIMIT = 1 << 20 }; /* PBS_VALUE_MAX of ifl/protocol/types.x */

int variable_list_add(struct job *j, const char *name, const char *value, struct err *e)
{
    const char *old = attr_list_text(&j->obj.attrs, JOB_ATTR_Variable_List);
    struct strbuf b;
    int rc;

    strbuf_init(&b, TEXT_LIMIT);
    if (old)
        strbuf_addf(&b, "%s,", old);
    strbuf_addf(&b, "%s=", name);
    for (; *value; value++)
        strbuf_addf(&b, "%s%c", strchr(",\\", *value) ? "\\" : "", *value);
    rc = strbuf_ok(&b) ? attr_list_set_text(&j->obj.attrs, JOB_ATTR_Variable_List, strbuf_str(&b), e)
                       : err_set(e, PBSE_BADATVAL, "Variable_List is longer than %d bytes", TEXT_LIMIT);
    strbuf_fini(&b);
    return rc;
}

bool variable_list_find(const struct job *j, const char *name, struct strbuf *out)
{
    const char *at = attr_list_text(&j->obj.attrs, JOB_ATTR_Variable_List), *word;
    size_t n, len = strlen(name);

    while ((word = list_next(&at, &n)))
        if (n > len && strncmp(word, name, len) == 0 && word[len] == '=')
            return list_unescape(out, word + len + 1, n - len - 1) == 0;
    return false;
}

bool variable_list_has(const struct job *j, const char *name)
{
    struct strbuf value;
    bool has;

    strbuf_init(&value, TEXT_LIMIT);
    has = variable_list_find(j, name, &value);
    strbuf_fini(&value);
    return has;
}
