// SPDX-License-Identifier: Apache-2.0
// The process's pool: made on first use, gone in a forked child, ended at exit.
#include "ime2/pool/pool.h"

#include <pthread.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "ime2/pool/crew.h"
#include "ime2/pool/policy.h"
#include "ime2/pool/switch.h"

namespace ime2::pool {
namespace {

// Held for a whole run: callers take turns, and nothing ends the crew under a run.
struct Shared {
  std::mutex mutex;
  Crew* crew = nullptr;  // owned; a plain pointer, so that neither exit nor a forked child destroys what is in use
};

constinit Shared shared;

// The child has the forking thread only. The crew's memory stays (its threads are not there to be joined), and the lock
// may be held by a thread that is not there either.
void forget_in_child() { new (&shared) Shared; }

// A run that still goes on ends with the process.
void end_at_exit() {
  const std::unique_lock lock(shared.mutex, std::try_to_lock);
  if (lock) delete std::exchange(shared.crew, nullptr);
}

// Not at load time, so that importing a library that holds the pool does nothing. The caller holds the lock; children
// inherit both the handlers and the note of them.
void register_handlers() {
  static constinit bool registered = false;
  if (registered) return;
  if (const int error = pthread_atfork(nullptr, nullptr, forget_in_child)) throw std::system_error(error, std::generic_category(), "pthread_atfork");
  if (std::atexit(end_at_exit) != 0) throw std::bad_alloc();
  registered = true;
}

void refuse_in_worker(const char* function) {
  if (!in_crew()) return;
  throw Nested(std::string("A100 workers: ") + function + "() was called by a worker; a slice's function must do its work itself");
}

Crew& crew() {
  if (shared.crew == nullptr) {
    register_handlers();
    shared.crew = new Crew(pool_size());
  }
  return *shared.crew;
}

}  // namespace

Core this_core() { return ime2_pool_this_core(); }

bool on_a100() { return ime2_pool_this_vlenb() == kA100Vlenb; }

std::vector<Core> start() {
  refuse_in_worker("start");
  const std::lock_guard lock(shared.mutex);
  return crew().cores();
}

void run(const Work& work) {
  refuse_in_worker("run");
  const std::lock_guard lock(shared.mutex);
  crew().run(work);
}

void stop() {
  refuse_in_worker("stop");
  const std::lock_guard lock(shared.mutex);
  delete std::exchange(shared.crew, nullptr);
}

}  // namespace ime2::pool
