// SPDX-License-Identifier: Apache-2.0
// What the programs of these tests share. Each argument is a question, NAME or NAME=ARGUMENT; answers go to standard
// output, one fact a line.
#ifndef TESTS_IME2_POOL_FACT_H
#define TESTS_IME2_POOL_FACT_H

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ime2/pool/pool.h"

namespace fact {

inline const char* kind(const ime2::pool::Error& error) {
  using namespace ime2::pool;
  if (dynamic_cast<const NoA100Cores*>(&error)) return "NoA100Cores";
  if (dynamic_cast<const NoPermission*>(&error)) return "NoPermission";
  if (dynamic_cast<const KernelRefuses*>(&error)) return "KernelRefuses";
  if (dynamic_cast<const NoHart*>(&error)) return "NoHart";
  if (dynamic_cast<const WrongVlen*>(&error)) return "WrongVlen";
  if (dynamic_cast<const NoThread*>(&error)) return "NoThread";
  if (dynamic_cast<const BadSetting*>(&error)) return "BadSetting";
  if (dynamic_cast<const Nested*>(&error)) return "Nested";
  return "Error";
}

// Runs f; an Error is an answer.
template <typename F>
void answer(F&& f) {
  try {
    f();
  } catch (const ime2::pool::Error& error) {
    std::printf("%s %s\n", kind(error), error.what());
  }
}

inline void start() {
  answer([] {
    for (const auto& core : ime2::pool::start()) {
      std::printf("worker hart %u vlenb %u marchid 0x%llx\n", core.hart, core.vlenb, static_cast<unsigned long long>(core.marchid));
    }
  });
}

// Calls ask(name, argument) for each of the program's arguments; false is an unknown question.
template <typename Ask>
int main(int argc, char** argv, Ask ask) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), argument = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (!ask(name, argument)) {
      std::fprintf(stderr, "%s: unknown question %s\n", argv[0], name.c_str());
      return 2;
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace fact

#endif
