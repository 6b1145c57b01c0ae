// SPDX-License-Identifier: Apache-2.0
//
// Stands in place of every riscv64 program in the guest's /usr/bin and /usr/sbin. The host kernel cannot start riscv64 programs, so a child that
// vLLM, a shell script or a `#!` line starts lands here, and this starts the emulator on the real program. It is an x86-64 program without any
// library: the guest root holds no x86-64 loader.
//
//   /proc/self/exe        /usr/bin/python3.14, the name under which this very file was started (hard links keep it, symbolic links are resolved)
//   /guest/real/<that>    the real program
//   /guest/cpu            QEMU's -cpu string, one line; a file, so that children with an empty environment run on the same core

#if !defined(__x86_64__)
#error "the launcher runs on the exec machine, which is x86-64"
#endif

enum { kSysRead = 0, kSysWrite = 1, kSysOpen = 2, kSysClose = 3, kSysExecve = 59, kSysExit = 60, kSysReadlink = 89 };
enum { kPathMax = 4096, kCpuMax = 1024, kCannotStart = 126, kExtraArguments = 7 }; // with the end; and argv may be empty

static const char kQemu[] = "/guest/qemu-riscv64";
static const char kReal[] = "/guest/real";
static const char kCpuFile[] = "/guest/cpu";

static long syscall3(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static long length(const char *text) {
    long n = 0;
    while (text[n]) ++n;
    return n;
}

static void say(const char *text) {
    syscall3(kSysWrite, 2, (long)text, length(text));
}

__attribute__((noreturn)) static void fail(const char *what, const char *which) {
    say("guest launcher: ");
    say(what);
    say(which);
    say("\n");
    for (;;) syscall3(kSysExit, kCannotStart, 0, 0);
}

// The compiler may turn loops into calls of these.
void *memcpy(void *to, const void *from, unsigned long n) {
    void *result = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    return result;
}
void *memset(void *to, int value, unsigned long n) {
    void *result = to;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(value) : "memory");
    return result;
}

static void read_cpu(char *cpu) {
    const long fd = syscall3(kSysOpen, (long)kCpuFile, 0, 0);
    const long n = fd < 0 ? -1 : syscall3(kSysRead, fd, (long)cpu, kCpuMax - 1);
    if (n <= 0) fail("cannot read ", kCpuFile);
    syscall3(kSysClose, fd, 0, 0);
    cpu[n] = 0;
    for (long i = 0; i < n; ++i)
        if (cpu[i] == '\n') cpu[i] = 0;
}

__attribute__((noreturn, used)) static void launch(long *stack) {
    const long argc = stack[0];
    const char **argv = (const char **)(stack + 1);
    const char **envp = argv + argc + 1;

    char real[kPathMax];
    const long prefix = sizeof(kReal) - 1;
    memcpy(real, kReal, prefix);
    const long n = syscall3(kSysReadlink, (long)"/proc/self/exe", (long)(real + prefix), kPathMax - prefix - 1);
    if (n <= 0) fail("cannot read /proc/self/exe: /proc is not mounted in the guest", "");
    real[prefix + n] = 0;

    char cpu[kCpuMax];
    read_cpu(cpu);

    const char *args[argc + kExtraArguments];
    long count = 0;
    args[count++] = kQemu;
    args[count++] = "-cpu";
    args[count++] = cpu;
    args[count++] = "-0";
    args[count++] = argc > 0 ? argv[0] : real;
    args[count++] = real;
    for (long i = 1; i < argc; ++i) args[count++] = argv[i];
    args[count] = 0;

    syscall3(kSysExecve, (long)kQemu, (long)args, (long)envp);
    fail("cannot start /guest/qemu-riscv64 for ", real);
}

__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call launch\n  hlt\n");
