#ifndef USAGE_SAMPLE_H
#define USAGE_SAMPLE_H
/* What the job has used so far: samples of /proc while it runs, the kernel's sums of what has ended. */
#include <stdint.h>
#include <sys/types.h>

struct exec_usage;
struct procs_sessions;

struct usage_sample {
    uint64_t cput_ms, mem_kb, vmem_kb; /* the largest seen */
    unsigned cpupercent;
    uint32_t handlers;     /* signals that a program of the last sample caught (shep_seen) */
    uint64_t last_cput_ms; /* of the sample before */
    int64_t last_wall_ms;
};

/* Look at everything below `root` (this process) and in these sessions. `wall_ms` is time while not suspended. */
void usage_sample_take(struct usage_sample *m, pid_t root, const struct procs_sessions *also,
                       int64_t wall_ms);
/* Nothing is left below: the kernel's sums alone. */
void usage_sample_finish(struct usage_sample *m, int64_t wall_ms);
void usage_sample_read(const struct usage_sample *m, int64_t wall_ms, unsigned ncpus, struct exec_usage *out);

#endif
