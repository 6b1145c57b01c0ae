// SPDX-License-Identifier: Apache-2.0
#include "ime2/torch/checks.h"

#include <c10/util/Exception.h>

#include <sstream>

namespace ime2::ops {
namespace {

constexpr unsigned kVlen = 1024;

std::string shape(const at::Tensor& tensor) {
  std::ostringstream text;
  text << "has shape " << tensor.sym_sizes();
  return text.str();
}

void check_dimensions(const Argument& argument, std::int64_t wanted, const char* meaning, const char* remedy) {
  if (argument.tensor.dim() == wanted) return;
  refuse(argument, shape(argument.tensor) + ", not " + meaning, remedy);
}

}  // namespace

void refuse(const Argument& argument, const std::string& found, const std::string& remedy) {
  TORCH_CHECK(false, argument.op, ": ", argument.name, " ", found, "; ", remedy);
}

std::int64_t known_size(const at::Tensor& tensor, std::int64_t dimension) { return tensor.sym_size(dimension).guard_int(__FILE__, __LINE__); }

void check_device(const Argument& argument, c10::DeviceType wanted) {
  if (argument.tensor.device().type() == wanted) return;
  const std::string target = c10::DeviceTypeName(wanted, true);
  refuse(argument, "is on device " + argument.tensor.device().str() + ", not " + target, "move it: " + std::string(argument.name) + ".to('" + target + "')");
}

void check_dtype(const Argument& argument, std::initializer_list<at::ScalarType> wanted) {
  std::string names;
  for (const at::ScalarType type : wanted) {
    if (argument.tensor.scalar_type() == type) return;
    names += (names.empty() ? "" : ", ") + std::string(c10::toString(type));
  }
  refuse(argument, "has dtype " + std::string(c10::toString(argument.tensor.scalar_type())) + ", not " + (wanted.size() > 1 ? "one of " : "") + names,
         wanted.size() > 1 ? "convert it, e.g. " + std::string(argument.name) + ".float()" : "convert it, or pass the tensor that was meant");
}

void check_contiguous(const Argument& argument) {
  if (argument.tensor.is_contiguous()) return;
  std::ostringstream found;
  found << "has strides " << argument.tensor.sym_strides() << " for sizes " << argument.tensor.sym_sizes() << ", not those of a contiguous tensor";
  refuse(argument, found.str(), "make it so once, when the model is loaded: " + std::string(argument.name) + ".contiguous()");
}

std::int64_t check_activations(const Argument& a) {
  check_dimensions(a, 2, "[M, K]", "fold the leading dimensions: a.reshape(-1, a.shape[-1])");
  const std::int64_t k = known_size(a.tensor, 1);
  if (k == 0) refuse(a, shape(a.tensor) + ": K is 0", "pass rows of at least 32 elements");
  if (k % kGroup != 0) refuse(a, shape(a.tensor) + ": K is no multiple of 32", "pad a and the weights along K with zeros");
  return k;
}

Weights check_weights(const Argument& qweight, const Argument& scales, c10::DeviceType device) {
  check_device(qweight, device);
  check_device(scales, device);
  check_dtype(qweight, {at::kByte});
  check_dtype(scales, {at::kFloat});
  check_dimensions(qweight, 3, "[N, K/32, 16]", "view the packed nibbles as groups of 16 bytes: qweight.view(N, K // 32, 16)");
  check_dimensions(scales, 2, "[N, K/32]", "pass one scale for each column and 32 elements of K");
  const std::int64_t n = known_size(qweight.tensor, 0), groups = known_size(qweight.tensor, 1);
  if (known_size(qweight.tensor, 2) != kGroupBytes) {
    refuse(qweight, shape(qweight.tensor) + ": a group has 16 bytes (32 nibbles)", "repack it to [N, K/32, 16]");
  }
  if (n == 0) refuse(qweight, shape(qweight.tensor) + ": N is 0", "pass at least one column");
  if (groups == 0) refuse(qweight, shape(qweight.tensor) + ": K is 0", "pass at least one group of 32");
  if (known_size(scales.tensor, 0) != n || known_size(scales.tensor, 1) != groups) {
    std::ostringstream found;
    found << shape(scales.tensor) << ", but qweight's shape " << qweight.tensor.sym_sizes() << " asks for [" << n << ", " << groups << "]";
    refuse(scales, found.str(), "pass the scales that belong to qweight");
  }
  check_contiguous(qweight);
  check_contiguous(scales);
  return {n, groups * kGroup};
}

bool executes_matrix(const Core& core) { return core.vlen == kVlen && core.matrix; }

std::string describe(const Core& core) {
  std::string has = "no vector unit (V)";
  if (core.vlen != 0) has = "VLEN " + std::to_string(core.vlen);
  if (core.vlen == kVlen && !core.matrix) has += " without xsmtvdotii (its instructions are illegal there)";
  return has;
}

void check_core(const char* op, const char* who) {
  const Core core = this_core();
  if (executes_matrix(core)) return;
  TORCH_CHECK(false, op, ": ", who, " runs on a core with ", describe(core),
              "; the kernel needs VLEN 1024 and xsmtvdotii. All of torch's threads must "
              "be of the caller's core type: start the work from a thread that stays on its cores. portable=True computes the same bits anywhere, slowly.");
}

}  // namespace ime2::ops
