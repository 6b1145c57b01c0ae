// SPDX-License-Identifier: Apache-2.0
// Prints what a program sees of the machine, one fact a line. Each argument is one question or action, in order.
#define _GNU_SOURCE
#include "vector.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

static sigjmp_buf after_sigill;

static void on_sigill(int signal) {
    (void)signal;
    siglongjmp(after_sigill, 1);
}

static int has_ime2(void) {
    struct sigaction action = {.sa_handler = on_sigill}, old;
    volatile int works = 0;
    sigaction(SIGILL, &action, &old);
    if (!sigsetjmp(after_sigill, 1)) {
        __asm__ volatile(WITH_V("vsetvli t0, zero, e8, m1, ta, ma\n") IME2_HP ::: "t0");
        works = 1;
    }
    sigaction(SIGILL, &old, NULL);
    return works;
}

static unsigned long affinity(void) {
    unsigned long mask = 0;
    return syscall(SYS_sched_getaffinity, 0, sizeof mask, &mask) < 0 ? 0 : mask;
}

static void print_core(void) {
    printf("vlenb %lu\nime2 %d\naffinity 0x%lx\n", vlenb(), has_ime2(), affinity());
    printf("hart_in_affinity %d\n", (int)(affinity() >> sched_getcpu() & 1));
}

static int set_affinity(unsigned long mask) {
    return syscall(SYS_sched_setaffinity, 0, sizeof mask, &mask) < 0 ? -errno : 0;
}

// Mask of another thread, or -errno; asking to set it to what it would be allowed.
static void print_affinity_of(const char *thread) {
    unsigned long mask = 0x1, got = 0;
    int error = syscall(SYS_sched_setaffinity, atoi(thread), sizeof mask, &mask) < 0 ? -errno : 0;
    long size = syscall(SYS_sched_getaffinity, atoi(thread), sizeof got, &got);
    printf("affinity_of %s: set %d get %d\n", thread, error, size < 0 ? -errno : 0);
}

// The file's mode, or -errno.
static void print_mode(const char *file) {
    struct stat found;
    if (stat(file, &found)) {
        printf("mode %s %d\n", file, -errno);
    } else {
        printf("mode %s 0%o\n", file, (unsigned)found.st_mode & 0777);
    }
}

// One writev of two pieces of text, which a comma parts.
static void write_pieces(char *text) {
    int fd = open("/proc/set_ai_thread", O_WRONLY);
    char *second = strchr(text, ',');
    *second++ = '\0';
    struct iovec pieces[] = {{text, strlen(text)}, {second, strlen(second)}};
    ssize_t written = writev(fd, pieces, 2);
    printf("pieces %s,%s %d\n", text, second, written < 0 ? -errno : (int)written);
    close(fd);
}

struct hwprobe {
    int64_t key;
    uint64_t value;
};

static void print_hwprobe(unsigned long harts) {
    struct hwprobe pairs[] = {{0, 0}, {1, 0}, {4, 0}};
    long error = syscall(258, pairs, 3, harts ? sizeof harts : 0, harts ? &harts : NULL, 0);
    printf("hwprobe 0x%lx: %ld mvendorid 0x%lx marchid 0x%lx v %d\n", harts, error, (unsigned long)pairs[0].value, (unsigned long)pairs[1].value,
           (int)(pairs[2].value >> 2 & 1));
}

// v8 = 7 in every byte, then the move; afterwards: does a vector instruction work without vsetvl, and what is in v8?
static void print_state_across_move(void) {
    struct sigaction action = {.sa_handler = on_sigill}, old;
    static unsigned char bytes[128];
    volatile int works = 0;
    sigaction(SIGILL, &action, &old);
    __asm__ volatile(WITH_V("vsetvli t0, zero, e8, m1, ta, ma\nvmv.v.i v8, 7\n")::: "t0");
    make_a100(0);
    if (!sigsetjmp(after_sigill, 1)) {
        __asm__ volatile(WITH_V("vadd.vi v9, v8, 1\n"));
        works = 1;
    }
    __asm__ volatile(WITH_V("vs1r.v v8, (%0)\n")::"r"(bytes) : "memory");
    sigaction(SIGILL, &old, NULL);
    int sevens = 0;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        sevens += bytes[i] == 7;
    }
    printf("vector_without_vsetvl %d\nkept_bytes %d\n", works, sevens);
}

static void wait_for(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        printf("child_signal %d\n", WTERMSIG(status));
    } else if (WEXITSTATUS(status)) {
        printf("child_exit %d\n", WEXITSTATUS(status));
    }
}

static void ask(char **argv, const char *question, char *argument) {
    if (!strcmp(question, "core")) {
        print_core();
    } else if (!strcmp(question, "hwcap_v")) {
        printf("hwcap_v %d\n", (int)(getauxval(AT_HWCAP) >> ('v' - 'a') & 1));
    } else if (!strcmp(question, "harts")) {
        printf("online %ld\nconfigured %ld\n", sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF));
    } else if (!strcmp(question, "affinity")) {
        printf("set_affinity %s %d\n", argument, set_affinity(strtoul(argument, NULL, 0)));
    } else if (!strcmp(question, "set_ai_thread")) {
        printf("set_ai_thread %s %d\n", argument, write_set_ai_thread(argument));
    } else if (!strcmp(question, "access")) {
        printf("access %s %d\n", argument, access(argument, W_OK) ? -errno : 0);
    } else if (!strcmp(question, "affinity_of")) {
        print_affinity_of(argument);
    } else if (!strcmp(question, "mode")) {
        print_mode(argument);
    } else if (!strcmp(question, "pieces")) {
        write_pieces(argument);
    } else if (!strcmp(question, "hwprobe")) {
        print_hwprobe(strtoul(argument, NULL, 0));
    } else if (!strcmp(question, "move_with_state")) {
        print_state_across_move();
    } else if (!strcmp(question, "cat")) {
        FILE *file = fopen(argument, "r");
        for (int c = file ? fgetc(file) : EOF; c != EOF; c = fgetc(file)) {
            putchar(c);
        }
        if (file) {
            fclose(file);
        } else {
            printf("no %s\n", argument);
        }
    } else if (!strcmp(question, "fork")) {
        pid_t child = fork();
        if (!child) {
            print_core();
            fflush(stdout);
            _exit(0);
        }
        wait_for(child);
    } else if (!strcmp(question, "exec")) {
        pid_t child = fork();
        if (!child) {
            execl(argument, argument, "core", (char *)NULL);
            printf("exec %s\n", strerror(errno));
            fflush(stdout);
            _exit(127);
        }
        wait_for(child);
    } else if (!strcmp(question, "ime2")) {
        __asm__ volatile(WITH_V("vsetvli t0, zero, e8, m1, ta, ma\n") IME2_HP ::: "t0");
        printf("executed\n");
    } else {
        fprintf(stderr, "%s: unknown question %s\n", argv[0], question);
        exit(2);
    }
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (int i = 1; i < argc; i++) {
        char *colon = strchr(argv[i], '=');
        if (colon) {
            *colon = '\0';
        }
        ask(argv, argv[i], colon ? colon + 1 : argv[i] + strlen(argv[i]));
        fflush(stdout);
    }
    return 0;
}
