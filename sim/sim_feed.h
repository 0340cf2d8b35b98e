#ifndef SIM_FEED_H
#define SIM_FEED_H
/* Submits the jobs of a workload at their times, over a connection of its own to the server (--workload, in stepped time).
 *
 * A line of the file is a job; its fields are separated by tabs:
 *
 *     ARRIVAL AFTER THINK LENGTH STATUS NAME=VALUE ...
 *
 * ARRIVAL, THINK and LENGTH are milliseconds of the simulation, ARRIVAL from its begin. AFTER is 0, or the number of an
 * earlier line: the job is then submitted THINK after the end of that job, and ARRIVAL does not count. Jobs without AFTER
 * are in the order of ARRIVAL. NAME is an attribute, ATTRIBUTE.RESOURCE, or "queue".
 *
 * On standard output a line says how far the simulation is, "at MS SUBMITTED ENDED"; "refused LINE TEXT": the server does not
 * take this job; at the end "over MS SUBMITTED ENDED", or "stuck ..." when jobs wait that will never start. Loop thread only. */
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct loop;
struct sim_feed;

/* Read the file, and begin to connect to this socket. NULL: e has file and line, or what is in the way. */
struct sim_feed *sim_feed_create(struct loop *l, const char *path, const char *socket_path, struct err *e);
void sim_feed_destroy(struct sim_feed *f);

/* The site is ready: arrivals count from now on. Called again it does nothing. */
void sim_feed_begin(struct sim_feed *f);
bool sim_feed_has_begun(const struct sim_feed *f);
/* The job of this line (EXECSIM_LINE of its Variable_List) has ended by itself. */
void sim_feed_ended(struct sim_feed *f, uint32_t line);
uint64_t sim_feed_n_submitted(const struct sim_feed *f); /* jobs ever */
/* Submit what is due. Called when all is quiet, so that what ends at the same time has ended before, in every run. Return true
 * if there was a job. */
bool sim_feed_submit_due(struct sim_feed *f);
/* Return true if no submission is under way. */
bool sim_feed_is_quiet(const struct sim_feed *f);
/* Called when all is quiet: the server has `jobs` that have not ended, `n_runs` are here. Return true if the workload is
 * over: each job has ended, or nothing has run for eight days although no job is to come. */
bool sim_feed_is_over(struct sim_feed *f, unsigned jobs, size_t n_runs);
/* Return true if jobs are still to be submitted. */
bool sim_feed_has_more(const struct sim_feed *f);
/* -1: the connection to the server was lost; e says why. */
int sim_feed_check(const struct sim_feed *f, struct err *e);

#endif
