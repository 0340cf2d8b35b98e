/* The walltime of the run is the first host's last word, so a time spent suspended is not in it. */
#include "loss.h"

#include "resource.h"

enum { MS_PER_S = 1000 };

double loss_core_s(const struct job *j, char letter)
{
    const struct value *cores = attr_list_amount(&j->obj.attrs, JOB_ATTR_Resource_List, RESC_ncpus);
    int64_t n = cores ? value_number(cores) : 1;

    if (letter == 'S' || letter == 'C' || letter == 'P' || letter == 'E')
        return 0;
    return (double)(n > 0 ? n : 1) * (double)j->usage.walltime_ms / MS_PER_S;
}
