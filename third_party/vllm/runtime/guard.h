// SPDX-License-Identifier: Apache-2.0
//
// What is asked before and after every op: has the calling thread's level code for it, are its OpenMP workers on cores of its
// type, is what another op made for it of its level, has it stayed where it was. Included before everything else in upstream's
// bindings, whose TORCH_LIBRARY block then gets a GuardedLibrary in place of a torch::Library.
#ifndef THIRD_PARTY_VLLM_RUNTIME_GUARD_H_
#define THIRD_PARTY_VLLM_RUNTIME_GUARD_H_

#include <torch/library.h>

#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "level.h"

#pragma GCC visibility push(hidden)
namespace sm10 {

// A registered op. `stub` is null where upstream's bindings have the function themselves.
struct Op {
  std::string name;
  const sm10_stub* stub = nullptr;
  bool makes_schedule = false;  // its result is a schedule, made for one level's attention
  bool takes_schedule = false;
};

// `schema` begins with the op's name. The reference stays valid.
const Op& Register(std::string_view schema, void (*kernel)());

// One call of an op. All of it raises RuntimeError, before anything was computed but for Finish().
class Call {
 public:
  explicit Call(const Op& op);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void Take(const at::Tensor& argument) const {
    if (op_.takes_schedule) CheckSchedule(argument);
  }
  template <typename T>
  void Take(const T&) const {}

  void Give(const at::Tensor& result) const {
    if (op_.makes_schedule) MarkSchedule(result);
  }
  template <typename T>
  void Give(const T&) const {}

  // The result is worth nothing if the thread was moved meanwhile.
  void Finish() const;

 private:
  void CheckSchedule(const at::Tensor& argument) const;
  void MarkSchedule(const at::Tensor& result) const;

  const Op& op_;
  unsigned vlenb_;  // 0: no vector unit
  const Level* level_;
  std::unique_lock<std::mutex> turn_;
};

template <typename R, typename... A>
auto Guarded(std::string_view schema, R (*kernel)(A...)) {
  const Op& op = Register(schema, reinterpret_cast<void (*)()>(kernel));
  return [kernel, &op](A... arguments) -> R {
    const Call call(op);
    (call.Take(arguments), ...);
    if constexpr (std::is_void_v<R>) {
      kernel(std::forward<A>(arguments)...);
      call.Finish();
    } else {
      R result = kernel(std::forward<A>(arguments)...);
      call.Finish();
      call.Give(result);
      return result;
    }
  };
}

// What upstream's bindings use of torch::Library.
class GuardedLibrary {
 public:
  explicit GuardedLibrary(torch::Library& library) : library_(library) {}

  void def(const char* schema) { library_.def(schema); }

  template <typename R, typename... A>
  void def(const char* schema, R (*kernel)(A...)) {
    library_.def(schema, Guarded(schema, kernel));
  }

  template <typename R, typename... A>
  void impl(const char* name, c10::DeviceType device, R (*kernel)(A...)) {
    library_.impl(name, device, Guarded(name, kernel));
  }

 private:
  torch::Library& library_;
};

}  // namespace sm10
#pragma GCC visibility pop

#undef TORCH_LIBRARY
#define TORCH_LIBRARY(ns, m)                                                                                                                       \
  static void sm10_register_##ns(sm10::GuardedLibrary);                                                                                            \
  static void sm10_init_##ns(torch::Library& library) { sm10_register_##ns(sm10::GuardedLibrary(library)); }                                       \
  static const torch::detail::TorchLibraryInit sm10_static_init_##ns(torch::Library::DEF, &sm10_init_##ns, #ns, std::nullopt, __FILE__, __LINE__); \
  static void sm10_register_##ns(sm10::GuardedLibrary m)

// What these register would be called unguarded.
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#define TORCH_LIBRARY_FRAGMENT(ns, m) SM10_REFUSED(ns##_fragment, m)
#define TORCH_LIBRARY_IMPL(ns, key, m) SM10_REFUSED(ns##_##key, m)
#define SM10_REFUSED(name, m)                                                                                   \
  static_assert(false, "runtime/guard.h: register ops in TORCH_LIBRARY, where each is guarded, not beside it"); \
  [[maybe_unused]] static void sm10_refused_##name(torch::Library& m)

#endif  // THIRD_PARTY_VLLM_RUNTIME_GUARD_H_
