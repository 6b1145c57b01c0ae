// SPDX-License-Identifier: Apache-2.0
#include "guard.h"

#include <omp.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>

#include "probe.h"
#include "registered.h"

namespace sm10 {
namespace {

constexpr char kMakesSchedule[] = "get_scheduler_metadata";
constexpr char kTakesSchedule[] = "cpu_attention_with_kv_cache";

// A schedule is upstream's AttentionMetadata (csrc/cpu/cpu_attn_impl.hpp), whose last 60 bytes are zero padding.
constexpr std::size_t kPadding = 132, kScheduleBytes = 192, kMark = 136;
constexpr std::uint64_t kMagic = 0x6c6576656c303173;

struct Mark {
  std::uint64_t magic;
  std::uint64_t vlenb;  // of the level, 0: scalar
};

std::deque<Op>& Ops() {
  static std::deque<Op> ops;
  return ops;
}

const sm10_stub* FindStub(void (*entry)()) {
  for (const sm10_stub* stub = sm10_stub_table; stub->entry != nullptr; ++stub) {
    if (stub->entry == entry) return stub;
  }
  return nullptr;
}

std::string Where() {
  return "the calling thread is on hart " + std::to_string(Hart()) + ", which runs level " + std::string(CurrentLevel()) + ": " + DescribeCore();
}

[[noreturn]] void Missing(std::string_view op, std::uint64_t levels) {
  TORCH_CHECK(false, op, ": vLLM has this kernel for the levels ", LevelNames(levels, true), " only; ", Where(),
              ". Run on cores of one of those levels (pin the process to them, e.g. by taskset; `python -m vllm_sm10` lists them), or use a model that does "
              "not need this kernel.");
}

// Upstream's kernels of a level share one scratch buffer, so its ops take turns. One lock per level: X100 and A100 threads
// compute at the same time.
using Turns = std::array<std::mutex, 9>;

std::unique_ptr<Turns>& AllTurns() {
  static std::unique_ptr<Turns> turns = [] {
    // A child of fork() has no other thread, so nobody in it waits for his turn or will end it.
    pthread_atfork(nullptr, nullptr, [] {
      (void)AllTurns().release();
      AllTurns() = std::make_unique<Turns>();
    });
    return std::make_unique<Turns>();
  }();
  return turns;
}

std::mutex& TurnOf(const Level* level) { return (*AllTurns())[level != nullptr ? std::countr_zero(level->vlenb) : 0]; }

// A vlenb of the thread's OpenMP workers that is not its own; 0: there is none. Workers are made with their master's type,
// but whoever writes a worker's tid to /proc/set_ai_thread moves it.
unsigned ForeignWorker(unsigned vlenb) {
  std::atomic<unsigned> found = 0;
#pragma omp parallel
  {
    if (const unsigned own = Vlenb(); own != vlenb) found = own;
  }
  return found;
}

}  // namespace

const Op& Register(std::string_view schema, void (*kernel)()) {
  const std::string name(schema.substr(0, schema.find('(')));
  Op op = {name, FindStub(kernel), name == kMakesSchedule, name == kTakesSchedule};
  return Ops().emplace_back(std::move(op));
}

std::vector<RegisteredOp> RegisteredOps() {
  std::vector<RegisteredOp> result;
  for (const Op& op : Ops()) result.push_back({op.name, op.stub != nullptr ? op.stub->levels : 0});
  return result;
}

Call::Call(const Op& op) : op_(op), vlenb_(HasVector() ? Vlenb() : 0), level_(CurrentVectorLevel()) {
  const std::uint64_t bit = level_ != nullptr ? level_->vlenb : kScalarBit;
  if (op.stub != nullptr && !(op.stub->levels & bit)) Missing(op.name, op.stub->levels);
  turn_ = std::unique_lock(TurnOf(level_));
  // Scalar code is right on every core.
  if (level_ == nullptr || !ThreadsCanMove() || omp_get_max_threads() == 1) return;
  const unsigned foreign = ForeignWorker(vlenb_);
  TORCH_CHECK(foreign == 0, op.name, ": an OpenMP worker of this thread is on a core with VLEN ", foreign * 8, ", but ", Where(),
              ". Workers must stay on cores of their thread's type: move a thread to the A100 cores before it computes, and never its workers alone.");
}

void Call::Finish() const {
  if (vlenb_ == 0) return;
  const unsigned now = Vlenb();
  TORCH_CHECK(now == vlenb_, op_.name, ": the thread was moved from a core with VLEN ", vlenb_ * 8, " to hart ", Hart(), " with VLEN ", now * 8,
              " while it computed, so the result is worth nothing. Move threads between ops, and only by themselves.");
}

void Call::MarkSchedule(const at::Tensor& result) const {
  auto* bytes = static_cast<char*>(result.mutable_data_ptr());
  constexpr std::array<char, kScheduleBytes - kPadding> zeros = {};
  TORCH_CHECK(result.nbytes() >= kScheduleBytes && std::memcmp(bytes + kPadding, zeros.data(), zeros.size()) == 0, op_.name,
              ": AttentionMetadata has another layout than runtime/guard.cc knows; this is an error of vllm._C's build");
  const Mark mark = {kMagic, level_ != nullptr ? level_->vlenb : 0};
  std::memcpy(bytes + kMark, &mark, sizeof mark);
}

void Call::CheckSchedule(const at::Tensor& argument) const {
  if (argument.scalar_type() != at::kChar || argument.dim() != 1 || argument.nbytes() < kScheduleBytes) return;
  Mark mark;
  std::memcpy(&mark, static_cast<const char*>(argument.const_data_ptr()) + kMark, sizeof mark);
  if (mark.magic != kMagic) return;
  const std::uint64_t own = level_ != nullptr ? level_->vlenb : 0;
  TORCH_CHECK(mark.vlenb == own, op_.name, ": scheduler_metadata was made at level ", LevelNames(mark.vlenb != 0 ? mark.vlenb : kScalarBit, false), ", but ",
              Where(), ". Sizes in it are that level's: call ", kMakesSchedule, " on the thread that attends.");
}

}  // namespace sm10

extern "C" void sm10_missing_op(const char* function) {
  for (const sm10_stub* stub = sm10_stub_table; stub->entry != nullptr; ++stub) {
    if (std::strcmp(stub->function, function) == 0) sm10::Missing(function, stub->levels);
  }
  sm10::Missing(function, 0);
}
