// SPDX-License-Identifier: Apache-2.0
//
// Entry points of vllm._C: level choice, binding, then upstream's registrations.
#include <Python.h>

#include <cstdio>
#include <string>

#include "late_binding.h"
#include "level.h"

// Upstream's PyInit__C, renamed in its object.
extern "C" [[gnu::visibility("hidden")]] PyObject* sm10_upstream_PyInit__C();

// Static initialisers of the objects that register ops. They call torch, so they
// stand in a section of their own, which the dynamic linker does not run.
using Initialiser = void (*)();
extern "C" [[gnu::visibility("hidden")]] const Initialiser __start_sm10_deferred_init[];
extern "C" [[gnu::visibility("hidden")]] const Initialiser __stop_sm10_deferred_init[];

namespace {

std::string& Error() {
  static std::string error;
  return error;
}

// At load, not at import: torch.ops.load_library never calls PyInit__C.
[[gnu::constructor]] void Start() {
  Error() = sm10::DecideLevels();
  if (Error().empty()) Error() = sm10::BindToTorch();
  if (!Error().empty()) {
    std::fprintf(stderr, "vllm._C: %s\n", Error().c_str());
    return;
  }
  for (const Initialiser* run = __start_sm10_deferred_init; run != __stop_sm10_deferred_init; ++run) (*run)();
}

}  // namespace

const std::string& sm10::LoadError() { return Error(); }

PyMODINIT_FUNC PyInit__C() {
  if (!Error().empty()) {
    PyErr_SetString(PyExc_ImportError, Error().c_str());
    return nullptr;
  }
  return sm10_upstream_PyInit__C();
}
