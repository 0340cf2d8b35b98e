/* Certificates of a complex: made once, shared, refused where they cannot be made. */
#include "certs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static char dir[] = "/tmp/certs_test.XXXXXX";
static char where[128];

static int setup(void **state)
{
    if (!mkdtemp(dir))
        return -1;
    snprintf(where, sizeof where, "%s/certs", dir);
    return 0;
}

static int teardown(void **state)
{
    return file_remove_tree(AT_FDCWD, dir, NULL);
}

static bool has(const char *name, mode_t mode)
{
    char path[256];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", where, name);
    return stat(path, &st) == 0 && (st.st_mode & 0777) == mode;
}

/* Shake hands in memory. */
static int shake(SSL_CTX *server, SSL_CTX *client)
{
    SSL *s = SSL_new(server), *c = SSL_new(client);
    BIO *one, *two;
    int i, rs = 0, rc = 0;

    assert_int_equal(BIO_new_bio_pair(&one, 0, &two, 0), 1);
    SSL_set_bio(s, one, one);
    SSL_set_bio(c, two, two);
    for (i = 0; i < 10 && (rs != 1 || rc != 1); i++) {
        rc = SSL_connect(c);
        rs = SSL_accept(s);
    }
    SSL_free(s);
    SSL_free(c);
    return rs == 1 && rc == 1;
}

static void are_made_once_and_trust_each_other(void **state)
{
    struct err e;
    SSL_CTX *s, *c;
    int lock;

    assert_int_equal(certs_ensure(where, "mom:n1", &e), -1); /* a MOM begins no complex */
    assert_int_equal(e.code, EACCES);
    assert_int_equal(certs_ensure(where, "server", &e), 0);
    assert_int_equal(certs_ensure(where, "mom:n1", &e), 0);
    assert_int_equal(certs_ensure(where, "mom:n1", &e), 0);
    lock = certs_lock(where, &e);
    assert_true(lock >= 0);
    assert_int_equal(certs_ensure_now(where, "mom:n1", &e), -1); /* a loop does not wait */
    assert_int_equal(e.code, EWOULDBLOCK);
    close(lock);
    assert_int_equal(certs_ensure_now(where, "mom:n1", &e), 0);
    assert_true(has("ca.key", 0600) && has("ca.crt", 0644) && has("server.key", 0600) &&
                has("mom-n1.crt", 0644));
    s = certs_context(where, "server", CERTS_SERVER, &e);
    c = certs_context(where, "mom:n1", CERTS_CLIENT, &e);
    assert_non_null(s);
    assert_non_null(c);
    assert_true(shake(s, c));
    SSL_CTX_free(s);
    SSL_CTX_free(c);
}

static void another_complex_is_a_stranger(void **state)
{
    struct err e;
    char other[256];
    SSL_CTX *s, *c;

    snprintf(other, sizeof other, "%s/other", dir);
    assert_int_equal(certs_ensure(other, "server", &e), 0);
    s = certs_context(where, "server", CERTS_SERVER, &e);
    c = certs_context(other, "server", CERTS_CLIENT, &e);
    assert_false(shake(s, c));
    SSL_CTX_free(s);
    SSL_CTX_free(c);
}

static void without_the_ca_key_it_says_what_to_copy(void **state)
{
    struct err e;
    char path[256];

    snprintf(path, sizeof path, "%s/ca.key", where);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(certs_ensure(where, "mom:n1", &e), 0);
    assert_int_equal(certs_ensure(where, "mom:n2", &e), -1);
    assert_int_equal(e.code, EACCES);
    assert_non_null(strstr(e.text, "mom-n2.crt"));
    assert_int_equal(certs_ensure(where, "mom:../x", &e), -1);
    assert_int_equal(e.code, EINVAL);
}

static void who_cannot_wait_is_told_that_the_lock_is_held(void **state)
{
    struct err e;
    int held = certs_lock(where, &e), again;

    assert_true(held >= 0);
    assert_int_equal(certs_lock_now(where, &e), -1);
    assert_int_equal(e.code, EWOULDBLOCK);
    close(held);
    again = certs_lock_now(where, &e);
    assert_true(again >= 0);
    close(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_made_once_and_trust_each_other),
        cmocka_unit_test(another_complex_is_a_stranger),
        cmocka_unit_test(without_the_ca_key_it_says_what_to_copy),
        cmocka_unit_test(who_cannot_wait_is_told_that_the_lock_is_held),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
