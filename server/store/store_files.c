/* Where the store is. See store_files.h. The same answer for the server and for pbs_store, so that they mean one store. */
#include "store_files.h"

#include <stdio.h>

void store_files_name(struct store_files *s, const char *home)
{
    snprintf(s->database, sizeof s->database, "%s/server_priv/cede.db", home);
    snprintf(s->password, sizeof s->password, "%s/server_priv/db_password", home);
}

struct store_where store_files_where(const struct store_files *s, const struct conf *c)
{
    if (!conf_is_set(c, CONF_PBS_DATA_SERVICE_HOST))
        return (struct store_where){.path = s->database};
    return (struct store_where){.host = conf_text(c, CONF_PBS_DATA_SERVICE_HOST),
                                .port = (int)conf_int(c, CONF_PBS_DATA_SERVICE_PORT),
                                .password_file = s->password};
}
