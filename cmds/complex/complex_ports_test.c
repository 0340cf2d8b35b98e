#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complex_ports.h"
#include "file.h"

/* Ports that no complex of this host takes during the test; other programs may have some of them. */
enum { FIRST = 31000, COUNT = 12 };

struct place {
    char top[32], dir[64], a[64], b[64];
    struct complex_ports ports;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    snprintf(p->top, sizeof p->top, "/tmp/complex_ports.XXXXXX");
    assert_non_null(mkdtemp(p->top));
    snprintf(p->dir, sizeof p->dir, "%s/claims", p->top);
    snprintf(p->a, sizeof p->a, "%s/a", p->top);
    snprintf(p->b, sizeof p->b, "%s/b", p->top);
    assert_int_equal(mkdir(p->a, 0755), 0);
    assert_int_equal(mkdir(p->b, 0700), 0);
    p->ports = (struct complex_ports){p->dir, FIRST, COUNT};
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;

    file_remove_tree(AT_FDCWD, p->top, NULL);
    free(p);
    return 0;
}

/* Claim all that can be had for `root`; out[port - FIRST] counts how often. Return how many. */
static int claim_all(struct place *p, const char *root, int out[COUNT])
{
    uint16_t port;
    struct err e;
    int n = 0;

    for (; n <= COUNT && complex_ports_claim(&p->ports, root, &port, &e) == 0; n++) {
        assert_in_range(port, FIRST, FIRST + COUNT - 1);
        out[port - FIRST]++;
    }
    assert_true(n <= COUNT);
    assert_int_equal(e.code, EADDRINUSE);
    return n;
}

static void nobody_gets_what_another_has_claimed(void **state)
{
    struct place *p = *state;
    int of[COUNT] = {0};
    uint16_t port;
    struct err e;

    claim_all(p, p->a, of);
    for (int i = 0; i < COUNT; i++)
        assert_in_range(of[i], 0, 1);
    assert_int_equal(complex_ports_claim(&p->ports, p->b, &port, &e), -1);
}

static void a_claim_ends_with_its_complex(void **state)
{
    struct place *p = *state;
    int of[COUNT] = {0}, of_b[COUNT] = {0};

    assert_true(claim_all(p, p->a, of) > 0);
    complex_ports_sweep(&p->ports, NULL);
    assert_int_equal(claim_all(p, p->b, of_b), 0);
    assert_int_equal(rmdir(p->a), 0);
    complex_ports_sweep(&p->ports, NULL);
    assert_true(claim_all(p, p->b, of_b) > 0);
}

static void a_complex_that_is_made_anew_claims_anew(void **state)
{
    struct place *p = *state;
    int of[COUNT] = {0};

    assert_true(claim_all(p, p->a, of) > 0);
    complex_ports_sweep(&p->ports, p->b);
    assert_int_equal(claim_all(p, p->a, of), 0);
    complex_ports_sweep(&p->ports, p->a);
    assert_true(claim_all(p, p->a, of) > 0);
}

static void a_port_in_use_is_not_claimed(void **state)
{
    struct place *p = *state;
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char name[128];
    uint16_t port;
    struct stat st;
    struct err e;

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
    p->ports.first = ntohs(a.sin_port);
    p->ports.count = 1;
    assert_int_equal(complex_ports_claim(&p->ports, p->a, &port, &e), -1);
    snprintf(name, sizeof name, "%s/%u", p->dir, p->ports.first);
    assert_int_equal(lstat(name, &st), -1);
    close(fd);
}

static void without_a_place_for_claims_a_free_port_will_do(void **state)
{
    struct place *p = *state;
    uint16_t port = 0;
    struct err e;

    assert_int_equal(mkdir(p->dir, 0755), 0); /* not sticky: not made by us */
    assert_int_equal(complex_ports_claim(&p->ports, p->a, &port, &e), 0);
    assert_in_range(port, FIRST, FIRST + COUNT - 1);
    assert_int_equal(rmdir(p->dir), 0);
    p->ports.dir = "/dev/null/claims";
    assert_int_equal(complex_ports_claim(&p->ports, p->a, &port, &e), 0);
    complex_ports_sweep(&p->ports, NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_gets_what_another_has_claimed),           TEST(a_claim_ends_with_its_complex),
        TEST(a_complex_that_is_made_anew_claims_anew),        TEST(a_port_in_use_is_not_claimed),
        TEST(without_a_place_for_claims_a_free_port_will_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
