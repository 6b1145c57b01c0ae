// SPDX-License-Identifier: Apache-2.0
// Guest program of //ime2:counts. Runs each step in a child process, whose instructions the emulator reports apart:
//
//   steps KERNEL K N M...        prints step<TAB>PID<TAB>NAME<TAB>M, and weight_load<TAB>M<TAB>ADDRESS
//
// What a step costs is its child's counts less those of step `nothing`. Step `watch` finds the instructions that read
// weights: weights are unreadable to it, so each such load faults, is noted and skipped. No kernel branches on data.

#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "ime2/counts/kernels.h"

namespace {

using ime2::counts::Kernel;
using ime2::counts::kernels;

// Enough tiles to have a first, a middle and a last one.
constexpr std::size_t kWatchedTiles = 3;

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "steps: %s\n", what);
  std::exit(2);
}

std::span<std::uint8_t> watched;         // the weights
constexpr std::size_t kMaxLoads = 1024;  // instructions in all kernels
std::uintptr_t loads[kMaxLoads];
std::size_t load_count;

bool is_vector_load(const std::uint8_t* code) {
  // LOAD-FP with a width that is not a scalar's.
  const unsigned width = code[1] >> 4 & 7;
  return (code[0] & 0x7f) == 0x07 && (width == 0 || width >= 5);
}

void give_up(const char* what) {
  if (write(2, what, std::strlen(what)) < 0) _exit(4);
  _exit(3);
}

void on_fault(int, siginfo_t* info, void* context) {
  auto& pc = static_cast<ucontext_t*>(context)->uc_mcontext.__gregs[REG_PC];
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr), begin = reinterpret_cast<std::uintptr_t>(watched.data());
  if (at < begin || at >= begin + watched.size()) give_up("steps: a fault outside the weights\n");
  if (!is_vector_load(reinterpret_cast<const std::uint8_t*>(pc))) give_up("steps: weights are read by something else than a vector load\n");
  if (std::find(loads, loads + load_count, pc) == loads + load_count) {
    if (load_count == kMaxLoads) give_up("steps: more loads of weights than kMaxLoads\n");
    loads[load_count++] = pc;
  }
  asm volatile("csrw vstart, zero");  // what the load left
  pc += 4;
}

// The step functions: their own instructions are nobody's cost, and the report leaves out what is named step_*.
struct Call {
  const Kernel* kernel;
  std::size_t m, tiles;
};

extern "C" {
[[gnu::noinline]] void step_nothing(const Call&) { asm volatile(""); }

[[gnu::noinline]] void step_quantize(const Call& call) { call.kernel->step_quantize(call.m); }

[[gnu::noinline]] void step_gemm(const Call& call) { call.kernel->step_multiply(call.m, call.tiles); }

[[gnu::noinline]] void step_watch(const Call& call) {
  watched = call.kernel->weights();
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGSEGV, &action, nullptr) != 0 || mprotect(watched.data(), watched.size(), PROT_NONE) != 0) give_up("steps: mprotect\n");
  step_gemm(call);
  for (std::size_t i = 0; i < load_count; i++) std::printf("weight_load\t%zu\t0x%lx\n", call.m, loads[i]);
  std::fflush(stdout);
}
}

void run(const char* name, void (*step)(const Call&), const Call& call) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    step(call);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) die("a step failed");
  std::printf("step\t%d\t%s\t%zu\n", child, name, call.m);
}

std::size_t number(const char* text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text == 0 || *end != 0) die("K, N and M are numbers");
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) die("usage: steps KERNEL K N M...");
  const std::size_t k = number(argv[2]), n = number(argv[3]);
  if (k == 0 || k % 32 != 0 || n == 0 || n % 32 != 0) die("K and N are positive multiples of 32");
  std::vector<std::size_t> rows;
  for (int i = 4; i < argc; i++) rows.push_back(number(argv[i]));
  for (const auto& [name, make] : kernels()) {
    if (name != std::string_view(argv[1])) continue;
    const auto kernel = make(k, n, *std::max_element(rows.begin(), rows.end()));
    for (const std::size_t m : rows) {
      kernel->step_quantize(m);
      run("nothing", step_nothing, {kernel.get(), m, n / 32});
      run("quantize", step_quantize, {kernel.get(), m, n / 32});
      run("gemm", step_gemm, {kernel.get(), m, n / 32});
      run("watch", step_watch, {kernel.get(), m, std::min(n / 32, kWatchedTiles)});
    }
    return 0;
  }
  die("no such kernel");
}
