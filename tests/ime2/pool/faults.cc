// SPDX-License-Identifier: Apache-2.0
#include "tests/ime2/pool/faults.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <map>

#include "ime2/pool/switch.h"

namespace {

using ime2::pool::Outcome;
using ime2::pool::Step;

struct Fault {
  Step step = Step::done;
  int error = 0;
  unsigned where = 0;
};

Fault fault;  // set while no crew is alive
std::atomic<unsigned> threads;

}  // namespace

bool set_fault(const std::string& text) {
  static const std::map<std::string, Step> steps{{"thread", Step::thread},     {"open", Step::open}, {"write", Step::write},
                                                 {"affinity", Step::affinity}, {"hart", Step::hart}, {"vlen", Step::vlen}};
  fault = {};
  threads = 0;
  if (text == "none") return true;
  char step[16];
  if (std::sscanf(text.c_str(), "%15[a-z]:%d:%u", step, &fault.error, &fault.where) != 3 || !steps.contains(step)) return false;
  fault.step = steps.at(step);
  return true;
}

extern "C" {

Outcome __real_ime2_pool_become_a100() noexcept;
Outcome __real_ime2_pool_settle(unsigned hart) noexcept;
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*), void* argument);

Outcome __wrap_ime2_pool_become_a100() noexcept {
  if (fault.step == Step::open || fault.step == Step::write) return {fault.step, fault.error, {}};
  return __real_ime2_pool_become_a100();
}

Outcome __wrap_ime2_pool_settle(unsigned hart) noexcept {
  Outcome outcome = __real_ime2_pool_settle(hart);
  if (hart != fault.where) return outcome;
  if (fault.step == Step::affinity || fault.step == Step::hart) outcome = {fault.step, fault.error, {hart, 0, 0}};
  if (fault.step == Step::vlen) outcome = {fault.step, 0, {hart, 32, 0}};
  return outcome;
}

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*), void* argument) {
  if (fault.step == Step::thread && threads.fetch_add(1) == fault.where) return fault.error;
  return __real_pthread_create(thread, attributes, entry, argument);
}
}
