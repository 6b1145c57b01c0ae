// SPDX-License-Identifier: Apache-2.0
// What the pool makes of the board: cores, vector state, and products on the matrix units. Compiled without vectors.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ime2/kernel/ime2_packed.h"
#include "ime2/pool/pool.h"
#include "ime2/pool/switch.h"
#include "tests/ime2/pool/fact.h"

#define WITH_V(code) ".option push\n.option arch, +v\n" code ".option pop\n"

namespace {

namespace pool = ime2::pool;

constexpr std::size_t kRegisters = 32, kMaxVlenb = 128;

struct VectorState {
  std::uint8_t registers[kRegisters * kMaxVlenb];
  unsigned long vtype, vl;
};

// Calls nothing: memset has a vector form.
[[gnu::always_inline]] inline void capture(VectorState& state, unsigned long vlenb) {
  std::uint8_t* bytes = state.registers;
  asm volatile(WITH_V("csrr %0, vtype\ncsrr %1, vl\n"
                      "vs8r.v v0, (%2)\nvs8r.v v8, (%3)\nvs8r.v v16, (%4)\nvs8r.v v24, (%5)\n")
               : "=&r"(state.vtype), "=&r"(state.vl)
               : "r"(bytes), "r"(bytes + 8 * vlenb), "r"(bytes + 16 * vlenb), "r"(bytes + 24 * vlenb)
               : "memory");
}

std::atomic<unsigned> born_x100, born_a100;  // threads of the pool, by the core that their first own instruction ran on

void print_caller() {
  const pool::Core core = pool::this_core();
  std::printf("caller vlenb %u on_x100_hart %d on_a100 %d\n", core.vlenb, core.hart < 8, pool::on_a100());
}

void print_narrow_caller() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(1, &set);
  CPU_SET(6, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) std::perror("sched_setaffinity");
  const std::size_t workers = pool::start().size();
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::printf("workers %zu caller_harts", workers);
  for (int hart = 0; hart < 16; ++hart) {
    if (CPU_ISSET(hart, &set)) std::printf(" %d", hart);
  }
  std::printf("\n");
}

// As many slices as workers, none of which ends before all have begun: each has another core.
void print_who(std::size_t workers) {
  std::vector<pool::Core> cores(workers);
  std::barrier all(static_cast<std::ptrdiff_t>(workers));
  pool::run(workers, workers, [&](std::size_t slice, std::size_t) {
    all.arrive_and_wait();
    cores[slice] = pool::on_a100() ? pool::this_core() : pool::Core{};
  });
  std::sort(cores.begin(), cores.end(), [](const auto& a, const auto& b) { return a.hart < b.hart; });
  std::printf("harts");
  for (const auto& core : cores) std::printf(" %u", core.hart);
  std::printf(" vlenb %u\n", cores.back().vlenb);
}

void print_births() {
  pool::start();
  std::printf("born x100 %u a100 %u\n", born_x100.load(), born_a100.load());
}

// A thread that keeps all its vector registers and waits for a flag without a call; meanwhile others use the pool.
void print_bystander() {
  static std::uint8_t registers[kRegisters * 32];
  static VectorState after;
  static volatile int ready, go;
  std::mt19937 random(7);
  for (auto& byte : registers) byte = static_cast<std::uint8_t>(random());
  std::thread bystander([] {
    const std::uint8_t* bytes = registers;
    asm volatile(WITH_V("vl8re8.v v0, (%0)\nvl8re8.v v8, (%1)\nvl8re8.v v16, (%2)\nvl8re8.v v24, (%3)\nvsetivli zero, 5, e16, m2, ta, ma\n"
                        "li t0, 1\nsw t0, (%4)\n1: lw t0, (%5)\nbeqz t0, 1b\n")
                 :
                 : "r"(bytes), "r"(bytes + 256), "r"(bytes + 512), "r"(bytes + 768), "r"(&ready), "r"(&go)
                 : "t0", "memory");
    capture(after, 32);
  });
  while (!ready) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    pool::start();
    pool::run(64, 8, [](std::size_t, std::size_t) {});
    pool::stop();
  }
  go = 1;
  bystander.join();
  std::printf("bystander registers %d vtype 0x%lx vl %lu\n", std::memcmp(after.registers, registers, sizeof registers) == 0, after.vtype, after.vl);
}

struct Free {
  void operator()(std::uint8_t* data) const { std::free(data); }
};
using Bytes = std::unique_ptr<std::uint8_t, Free>;

Bytes aligned(std::size_t size) { return Bytes(static_cast<std::uint8_t*>(std::aligned_alloc(128, (size + 127) / 128 * 128))); }

struct Product {
  std::size_t m, n, k;
  Bytes activations, blob;

  Product(std::size_t rows, std::size_t columns, std::size_t depth)
      : m(rows), n(columns), k(depth), activations(aligned(ime2_packed_activation_bytes(m, k))), blob(aligned(ime2_packed_weight_bytes(n, k))) {
    std::mt19937 random(11);
    std::vector<float> a(m * k), scales(n * k / 32);
    std::vector<std::uint8_t> qweight(n * k / 2);
    for (float& x : a) x = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500.0f;
    for (auto& x : qweight) x = static_cast<std::uint8_t>(random());
    for (float& x : scales) x = 0.001f + static_cast<float>(random() % 1000) / 250000.0f;
    ime2_packed_quantize_portable(a.data(), k, m, k, activations.get());
    ime2_packed_weight_pack(qweight.data(), scales.data(), n, k, blob.get());
  }
  std::size_t tiles() const { return (n + 31) / 32; }
};

void print_products(std::size_t m, std::size_t n, std::size_t k) {
  const Product product(m, n, k);
  std::vector<float> expected(m * n);
  ime2_packed_gemm_portable(product.activations.get(), product.blob.get(), m, {0, product.tiles()}, expected.data(), n);
  for (std::size_t workers = 1; workers <= 8; ++workers) {
    std::vector<float> out(m * n, -1.0f);
    pool::run(product.tiles(), workers,
              [&](std::size_t tile, std::size_t) { ime2_packed_gemm(product.activations.get(), product.blob.get(), m, {tile, 1}, out.data(), n); });
    const bool same = std::memcmp(out.data(), expected.data(), out.size() * sizeof(float)) == 0;
    std::printf("product workers %zu same_bits %d\n", workers, same);
  }
}

bool ask(const std::string& name, const std::string& argument) {
  if (name == "start") {
    fact::start();
  } else if (name == "bystander") {
    print_bystander();
  } else if (name == "caller") {
    print_caller();
  } else if (name == "narrow_caller") {
    print_narrow_caller();
  } else if (name == "who") {
    fact::answer([&] { print_who(std::stoul(argument)); });
  } else if (name == "births") {
    print_births();
  } else if (name == "products") {
    std::size_t m, n, k;
    if (std::sscanf(argument.c_str(), "%zu,%zu,%zu", &m, &n, &k) != 3) return false;
    print_products(m, n, k);
  } else if (name == "policy") {
    std::printf("rows %s workers %zu\n", argument.c_str(), pool::default_workers(std::stoul(argument)));
  } else if (name == "illegal") {
    pool::run(1, 1, [](std::size_t, std::size_t) { asm volatile("unimp"); });
  } else {
    return false;
  }
  return true;
}

}  // namespace

extern "C" pool::Outcome __real_ime2_pool_become_a100() noexcept;

// The first thing that any thread of the pool does.
extern "C" pool::Outcome __wrap_ime2_pool_become_a100() noexcept {
  (pool::on_a100() ? born_a100 : born_x100)++;
  return __real_ime2_pool_become_a100();
}

int main(int argc, char** argv) { return fact::main(argc, argv, ask); }
