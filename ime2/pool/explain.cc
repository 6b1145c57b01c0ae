// SPDX-License-Identifier: Apache-2.0
#include "ime2/pool/explain.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "ime2/pool/policy.h"

namespace ime2::pool {
namespace {

constexpr char kFile[] = "/proc/set_ai_thread";

std::string text(int error) { return std::generic_category().message(error) + " (errno " + std::to_string(error) + ")"; }

// Which harts a pool of fewer workers does without.
std::string fewer_workers() {
  std::string harts;
  for (const unsigned hart : kHarts) harts += (harts.empty() ? "" : ", ") + std::to_string(hart);
  return std::string("or lower ") + kSetting + ": workers take harts " + harts + " in this order";
}

bool is_permission(int error) { return error == EACCES || error == EPERM || error == EROFS; }

[[noreturn]] void explain_file(const std::string& action, int error) {
  const std::string what = "A100 workers: cannot " + action + " " + kFile + ": " + text(error);
  if (error == ENOENT) {
    throw NoA100Cores(what +
                      "; this machine or its kernel offers no A100 cores. Run on an SM10 with the vendor's kernel, or choose a quantization that "
                      "needs none");
  }
  if (is_permission(error)) throw NoPermission(what + "; allow this user to write it, and mount a container's /proc so that it can be written");
  throw KernelRefuses(what + "; the kernel does not make this thread an A100 thread. Update it to one with the SM10's AI threads, and enable its A100 cores");
}

}  // namespace

void explain(const Outcome& outcome) {
  const std::string hart = "hart " + std::to_string(outcome.core.hart);
  switch (outcome.step) {
    case Step::open: explain_file("open", outcome.error);
    case Step::write: explain_file("write", outcome.error);
    case Step::affinity:
      throw NoHart("A100 workers: " + hart + " is refused to this thread: " + text(outcome.error) +
                   "; allow CPUs 8-15 in the process's cpuset (cpuset.cpus), " + fewer_workers());
    case Step::hart:
      throw NoHart("A100 workers: a thread runs on " + hart + " although its affinity excludes it; see that CPUs 8-15 are online, " + fewer_workers());
    case Step::vlen:
      throw WrongVlen("A100 workers: " + hart + " has VLEN " + std::to_string(outcome.core.vlenb * 8) +
                      ", not 1024; on this machine harts 8-15 are no "
                      "A100 cores. Run on an SM10 with the vendor's kernel");
    case Step::thread:
    case Step::done: break;
  }
  throw NoThread("A100 workers: cannot make a thread: " + text(outcome.error) + "; raise the limit on threads (ulimit -u, the cgroup's pids.max), " +
                 fewer_workers());
}

}  // namespace ime2::pool
