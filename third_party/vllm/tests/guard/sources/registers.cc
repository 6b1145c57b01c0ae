// SPDX-License-Identifier: Apache-2.0
// Ways to register an op in upstream's bindings, compiled as these are: guard.h comes first. A line with "refused: TEXT" must be an error that says TEXT.
#include <torch/library.h>

static at::Tensor kernel(const at::Tensor& x) { return x; }
static void fills(at::Tensor& out, const std::optional<at::Tensor>& by) { (void)out, (void)by; }

TORCH_LIBRARY(small, ops) {
  ops.def("schema_only(Tensor x) -> Tensor");
  ops.def("kernel(Tensor x) -> Tensor", &kernel);
  ops.impl("schema_only", c10::kCPU, &kernel);
  ops.def("fills(Tensor(a!) out, Tensor? by) -> ()", &fills);
  ops.def("boxed(Tensor x) -> Tensor", torch::CppFunction::makeFallthrough());   // refused: no matching function for call to
  ops.def("lambda(Tensor x) -> Tensor", [](const at::Tensor& x) { return x; });  // refused: no matching function for call to
  ops.impl("schema_only", &kernel);                                              // refused: no matching function for call to
  ops.impl("schema_only", c10::kCPU, [](const at::Tensor& x) { return x; });     // refused: no matching function for call to
  ops.fallback(torch::CppFunction::makeFallthrough());                           // refused: has no member named 'fallback'
}

TORCH_LIBRARY_FRAGMENT(small, ops) { ops.def("fragment(Tensor x) -> Tensor", &kernel); }  // refused: register ops in TORCH_LIBRARY, where each is guarded

TORCH_LIBRARY_IMPL(small, CPU, ops) { ops.impl("schema_only", &kernel); }  // refused: register ops in TORCH_LIBRARY, where each is guarded
