// SPDX-License-Identifier: Apache-2.0
// Threads that compute with vectors on both types of harts, and change type at random moments, by themselves or by
// another thread's hand, while signals hit them and the process forks. Every result is checked.
// Arguments: threads, rounds for each thread, seed.
#define _GNU_SOURCE
#include "vector.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { BYTES = 1024, MAX_THREADS = 64 };

static atomic_uint errors, moved_by_itself, moved_by_other, forked;
static atomic_ulong signals, a100_rounds, x100_rounds;
static unsigned rounds;

struct worker {
    pthread_t thread;
    atomic_int tid;
    atomic_int parked; // asks the main thread to move it
    atomic_int done;
    uint64_t state;
};

static struct worker workers[MAX_THREADS];

static void on_signal(int signal) {
    (void)signal;
    atomic_fetch_add(&signals, 1);
}

static uint32_t next(struct worker *w) {
    w->state = w->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->state >> 32);
}

static void fail(const char *what, unsigned long got, unsigned long expected) {
    atomic_fetch_add(&errors, 1);
    fprintf(stderr, "stress: %s: got %lu, expected %lu\n", what, got, expected);
}

// c = a * 3 + b over BYTES bytes, in strips of whatever VLEN there is.
static void check_strips(struct worker *w) {
    unsigned char a[BYTES], b[BYTES], c[BYTES];
    for (unsigned i = 0; i < BYTES; i++) {
        a[i] = (unsigned char)next(w);
        b[i] = (unsigned char)(a[i] ^ i);
    }
    for (unsigned long i = 0, n; i < BYTES; i += n) {
        __asm__ volatile(WITH_V("vsetvli %0, %1, e8, m4, ta, ma\nvle8.v v8, (%2)\nvle8.v v12, (%3)\nli t0, 3\n"
                                "vmul.vx v16, v8, t0\nvadd.vv v16, v16, v12\nvse8.v v16, (%4)\n")
                         : "=&r"(n)
                         : "r"(BYTES - i), "r"(a + i), "r"(b + i), "r"(c + i)
                         : "t0", "memory");
        if (n != (BYTES - i < 4 * vlenb() ? BYTES - i : 4 * vlenb())) {
            fail("vl", n, 4 * vlenb());
            return;
        }
    }
    for (unsigned i = 0; i < BYTES; i++) {
        if (c[i] != (unsigned char)(a[i] * 3 + b[i])) {
            fail("a * 3 + b", c[i], (unsigned char)(a[i] * 3 + b[i]));
            return;
        }
    }
}

// One int8 8x16x8 product, against the definition.
static void check_matrix(struct worker *w) {
    signed char a[8][16], b[8][16];
    int c[8][8];
    for (unsigned i = 0; i < 128; i++) {
        a[i / 16][i % 16] = (signed char)next(w);
        b[i / 16][i % 16] = (signed char)next(w);
    }
    __asm__ volatile(WITH_V("vl1re8.v v2, (%0)\nvl1re8.v v8, (%1)\nvsetvli t0, zero, e32, m2, ta, ma\nvmv.v.i v16, 0\n"
                            "vsetvli t0, zero, e8, m1, ta, ma\n") IME2_DOT_I8 WITH_V("vs2r.v v16, (%2)\n")
                     :
                     : "r"(a), "r"(b), "r"(c)
                     : "t0", "memory");
    for (unsigned m = 0; m < 8; m++) {
        for (unsigned n = 0; n < 8; n++) {
            int sum = 0;
            for (unsigned k = 0; k < 16; k++) {
                sum += a[m][k] * b[n][k];
            }
            if (c[m][n] != sum) {
                fail("vmadot", (unsigned long)c[m][n], (unsigned long)sum);
                return;
            }
        }
    }
}

static void check_round(struct worker *w, unsigned long expected_vlenb) {
    if (vlenb() != expected_vlenb) {
        fail("vlenb", vlenb(), expected_vlenb);
    }
    check_strips(w);
    if (expected_vlenb == 128) {
        check_matrix(w);
    }
    atomic_fetch_add(expected_vlenb == 128 ? &a100_rounds : &x100_rounds, 1);
}

static void *work(void *argument) {
    struct worker *w = argument;
    unsigned long mine = vlenb();
    unsigned when = next(w) % rounds, how = next(w) % 3; // 0: stays, 1: moves itself, 2: is moved
    atomic_store(&w->tid, (int)syscall(SYS_gettid));
    for (unsigned round = 0; round < rounds; round++) {
        check_round(w, mine);
        if (round == when && how && mine != 128) {
            if (how == 1) {
                if (make_a100(0) < 0) {
                    fail("write to set_ai_thread", (unsigned long)errno, 0);
                }
                atomic_fetch_add(&moved_by_itself, 1);
            } else {
                atomic_store(&w->parked, 1);
                while (atomic_load(&w->parked)) {
                    usleep(200);
                }
                atomic_fetch_add(&moved_by_other, 1);
            }
            mine = 128;
        }
    }
    atomic_store(&w->done, 1);
    return NULL;
}

// The child must still be what its parent thread was, and compute.
static void fork_and_check(struct worker *w) {
    unsigned before = atomic_load(&errors);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        check_round(w, vlenb());
        _exit(atomic_load(&errors) != before);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status) {
        fail("exit status of a forked child", (unsigned long)status, 0);
    }
    atomic_fetch_add(&forked, 1);
}

int main(int argc, char **argv) {
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 8;
    struct worker self = {.state = 99};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 50;
    uint64_t seed = argc > 3 ? (uint64_t)atoi(argv[3]) : 1;
    if (threads > MAX_THREADS || !threads || !rounds) {
        fprintf(stderr, "stress: 1 to %d threads, at least 1 round\n", MAX_THREADS);
        return 2;
    }
    sigaction(SIGUSR1, &action, NULL);
    for (unsigned i = 0; i < threads; i++) {
        workers[i].state = seed * 1000 + i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (unsigned turn = 0, running = 1; running; turn++) {
        running = 0;
        for (unsigned i = 0; i < threads; i++) {
            struct worker *w = &workers[i];
            if (atomic_load(&w->parked)) {
                if (make_a100(atomic_load(&w->tid)) < 0) {
                    fail("write of another tid", (unsigned long)errno, 0);
                }
                atomic_store(&w->parked, 0);
            }
            if (!atomic_load(&w->done)) {
                running = 1;
                pthread_kill(w->thread, SIGUSR1);
            }
        }
        if (turn % 16 == 0) {
            fork_and_check(&self);
        }
        usleep(500);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    printf("x100_rounds %lu\na100_rounds %lu\nmoved_by_itself %u\nmoved_by_other %u\nsignals %lu\nforks %u\nerrors %u\n", atomic_load(&x100_rounds),
           atomic_load(&a100_rounds), atomic_load(&moved_by_itself), atomic_load(&moved_by_other), atomic_load(&signals), atomic_load(&forked),
           atomic_load(&errors));
    return atomic_load(&errors) != 0;
}
