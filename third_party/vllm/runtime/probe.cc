// SPDX-License-Identifier: Apache-2.0
#include "probe.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace sm10 {
namespace {

std::mutex one_at_a_time;
sigjmp_buf probe_return;
struct sigaction before;
std::atomic<long> prober = 0;

long ThisThread() { return syscall(SYS_gettid); }

void OnIllegal(int signal, siginfo_t* info, void* context) {
  if (prober == ThisThread()) siglongjmp(probe_return, 1);
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    // The instruction is executed again, and ends the process as it would have without us.
    sigaction(SIGILL, &before, nullptr);
  }
}

// Lets SIGILL through: a blocked one would end the process.
class Unblocked {
 public:
  Unblocked() {
    sigset_t illegal;
    sigemptyset(&illegal);
    sigaddset(&illegal, SIGILL);
    pthread_sigmask(SIG_UNBLOCK, &illegal, &mask_);
  }
  ~Unblocked() { pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }
  Unblocked(const Unblocked&) = delete;
  Unblocked& operator=(const Unblocked&) = delete;

 private:
  sigset_t mask_;
};

}  // namespace

bool Executes(void (*probe)()) {
  const std::lock_guard guard(one_at_a_time);
  const Unblocked unblocked;
  struct sigaction action = {};
  action.sa_sigaction = OnIllegal;
  action.sa_flags = SA_SIGINFO;
  prober = ThisThread();
  if (sigaction(SIGILL, &action, &before) != 0) return false;
  volatile bool executed = false;
  if (sigsetjmp(probe_return, 1) == 0) {
    probe();
    executed = true;
  }
  sigaction(SIGILL, &before, nullptr);
  prober = 0;
  return executed;
}

unsigned Vlenb() {
  unsigned long vlenb;
  // By number, as the assembler wants V for the name; volatile, as a thread may change its core type once.
  asm volatile("csrr %0, 0xc22" : "=r"(vlenb));
  return static_cast<unsigned>(vlenb);
}

}  // namespace sm10
