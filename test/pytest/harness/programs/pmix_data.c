/* One rank that speaks PMIx alone: publishes as many bytes as the first argument says, meets all others in a fence that collects
 * data or (a second argument "direct") in one that does not, then reads what every other rank has published. Prints its rank and
 * the sum of what it has read. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t me;

static int fail(const char *what, pmix_status_t rc)
{
    fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    return 1;
}

static int publish(size_t n)
{
    pmix_value_t v = {.type = PMIX_BYTE_OBJECT};
    pmix_status_t rc;

    v.data.bo.bytes = malloc(n);
    v.data.bo.size = n;
    memset(v.data.bo.bytes, (int)me.rank + 1, n);
    rc = PMIx_Put(PMIX_GLOBAL, "test.data", &v);
    return rc == PMIX_SUCCESS ? PMIx_Commit() : rc;
}

static int meet(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    return PMIx_Fence(NULL, 0, &info, 1);
}

static int read_all(unsigned size, size_t n, unsigned long *sum)
{
    for (unsigned r = 0; r < size; r++) {
        pmix_proc_t other;
        pmix_value_t *v = NULL;
        pmix_status_t rc;

        PMIX_LOAD_PROCID(&other, me.nspace, r);
        rc = PMIx_Get(&other, "test.data", NULL, 0, &v);
        if (rc != PMIX_SUCCESS)
            return rc;
        if (v->data.bo.size != n || v->data.bo.bytes[n - 1] != (char)(r + 1))
            return PMIX_ERR_BAD_PARAM;
        *sum += (unsigned char)v->data.bo.bytes[0];
        PMIX_VALUE_RELEASE(v);
    }
    return PMIX_SUCCESS;
}

int main(int argc, char *argv[])
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    bool direct = argc > 2 && strcmp(argv[2], "direct") == 0;
    unsigned long sum = 0;
    pmix_proc_t all;
    pmix_value_t *v;
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    if (rc != PMIX_SUCCESS)
        return fail("init", rc);
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    if ((rc = PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v)) != PMIX_SUCCESS)
        return fail("size", rc);
    if ((rc = publish(n)) != PMIX_SUCCESS || (rc = meet(!direct)) != PMIX_SUCCESS)
        return fail("fence", rc);
    if ((rc = read_all(v->data.uint32, n, &sum)) != PMIX_SUCCESS)
        return fail("get", rc);
    if ((rc = meet(false)) != PMIX_SUCCESS) /* no rank leaves before all have read */
        return fail("last fence", rc);
    printf("rank %u of %u read %lu\n", me.rank, v->data.uint32, sum);
    PMIx_Finalize(NULL, 0);
    return 0;
}
