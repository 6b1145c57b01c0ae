// SPDX-License-Identifier: Apache-2.0
//
// sm10_describe: what this library knows of itself and of the calling thread's core, as JSON. Needs no torch, so it also
// answers where the library cannot be used.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "ime2/torch/core.h"
#include "level.h"
#include "registered.h"

namespace {

// Names and messages hold no quotes and no control characters but those of the user's own settings.
std::string Quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= ' ') result += c;
  }
  return result + "\"";
}

// "a, b" to ["a", "b"].
std::string List(std::string_view names) {
  std::string result = "[";
  while (!names.empty()) {
    const std::size_t end = names.find(", ");
    if (result.size() > 1) result += ",";
    result += Quoted(names.substr(0, end));
    names = end == std::string_view::npos ? std::string_view() : names.substr(end + 2);
  }
  return result + "]";
}

std::string Core() {
  const ime2::ops::Core core = ime2::ops::this_core();
  std::string text = "{\"extensions\":" + List(sm10::KnownExtensions()) + ",\"hart\":" + std::to_string(sm10::Hart());
  text += ",\"matrix\":" + std::string(core.matrix ? "true" : "false");
  return text + ",\"vlen\":" + std::to_string(core.vlen) + "}";
}

std::string Levels() {
  std::string text = "[";
  for (const sm10::LevelState& state : sm10::LevelStates()) {
    if (text.size() > 1) text += ",";
    text += "{\"enabled\":" + std::string(state.enabled ? "true" : "false") + ",\"missing\":" + List(state.missing) + ",\"name\":" + Quoted(state.name);
    text += ",\"needs\":" + List(state.needs) + ",\"vlen\":" + std::to_string(state.vlen) + "}";
  }
  return text + "]";
}

std::string Ops() {
  std::string text = "[";
  for (const sm10::RegisteredOp& op : sm10::RegisteredOps()) {
    if (text.size() > 1) text += ",";
    text += "{\"levels\":" + List(sm10::LevelNames(op.levels, false)) + ",\"name\":" + Quoted(op.name) + "}";
  }
  return text + "]";
}

}  // namespace

// Writes at most `size` bytes, without a terminator; returns how many the text has.
extern "C" [[gnu::visibility("default")]] std::size_t sm10_describe(char* to, std::size_t size) {
  const std::string_view level = sm10::CurrentLevel();  // first: it asks a core that was not met before
  std::string text = "{\"core\":" + Core() + ",\"error\":" + Quoted(sm10::LoadError()) + ",\"level\":" + Quoted(level);
  text += ",\"levels\":" + Levels() + ",\"mixed\":" + (sm10::ThreadsCanMove() ? "true" : "false") + ",\"ops\":" + Ops();
  text += ",\"why\":" + Quoted(sm10::DescribeCore()) + "}";
  std::memcpy(to, text.data(), text.size() < size ? text.size() : size);
  return text.size();
}
