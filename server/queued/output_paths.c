/* Where the output goes. See output_paths.h. The paths are those that users see and that the first host delivers to. Asked
 * when a job is made, and when an alteration has taken a path or the name away. */
#include "output_paths.h"

#include <string.h>

#include "host_address.h"
#include "pbs_error.h"
#include "strbuf.h"
#include "variable_list.h"

enum { TEXT_LIMIT = 1 << 20 }; /* PBS_VALUE_MAX of ifl/protocol/types.x */

/* "host:": the default name on that host. */
static bool is_host_only(const char *path)
{
    const char *colon = strchr(path, ':');

    return colon && !colon[1];
}

/* Add the host to which output goes. If its address has no name here, use the name that the host gave in PBS_O_HOST: an IPv6 address
 * could not be told from the path behind it. A wrong name misdirects the owner's own output only. */
static void add_host(const struct job *j, struct strbuf *b)
{
    struct strbuf own;

    strbuf_init(&own, TEXT_LIMIT);
    if (host_address_is_numeric(j->host) && variable_list_find(j, "PBS_O_HOST", &own) && own.len &&
        !strpbrk(strbuf_str(&own), ":/"))
        strbuf_add(b, strbuf_str(&own));
    else
        strbuf_add(b, j->host);
    strbuf_fini(&own);
    strbuf_add_char(b, ':');
}

/* "host:workdir/name.o41" where nothing else was said; of an array "name.o41.^array_index^". A directory ("host:dir/") stays as
 * it was said: the file that is brought there has the name that it has in the spool, ID.OU. */
static int default_path(struct job *j, int index, char letter, struct err *e)
{
    const char *said = attr_list_text(&j->obj.attrs, index);
    struct strbuf b;
    int rc;

    if (said && !is_host_only(said))
        return 0;
    strbuf_init(&b, TEXT_LIMIT);
    if (said)
        strbuf_add(&b, said);
    else
        add_host(j, &b);
    if (variable_list_find(j, "PBS_O_WORKDIR", &b) || variable_list_find(j, "PBS_O_HOME", &b))
        strbuf_add(&b, "/");
    strbuf_addf(&b, "%s.%c%lld%s", attr_list_text(&j->obj.attrs, JOB_ATTR_Job_Name), letter,
                (long long)j->key.seq, j->array ? ".^array_index^" : "");
    rc = attr_list_set_text(&j->obj.attrs, index, strbuf_str(&b), e);
    strbuf_fini(&b);
    return rc;
}

int output_paths_complete(struct job *j, struct err *e)
{
    if (!attr_list_text(&j->obj.attrs, JOB_ATTR_Job_Name) &&
        attr_list_set_text(&j->obj.attrs, JOB_ATTR_Job_Name, "none", e) < 0)
        return -1;
    if (default_path(j, JOB_ATTR_Output_Path, 'o', e) < 0)
        return -1;
    return default_path(j, JOB_ATTR_Error_Path, 'e', e);
}
