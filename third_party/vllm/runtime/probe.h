// SPDX-License-Identifier: Apache-2.0
//
// Asks a core whether it executes an instruction, where nothing else can tell.
#ifndef THIRD_PARTY_VLLM_RUNTIME_PROBE_H_
#define THIRD_PARTY_VLLM_RUNTIME_PROBE_H_

// Probes stand in a section of their own, so that an audit can tell them from
// code that a core without their extension could reach.
#define SM10_PROBE [[gnu::noinline, gnu::section("sm10_probe_text")]]

namespace sm10 {

// Runs `probe` on the calling thread; false if it raises SIGILL. Other threads'
// SIGILL still goes where it went before.
[[gnu::visibility("hidden")]] bool Executes(void (*probe)());

// vlenb of the calling thread's core, which must have V.
[[gnu::visibility("hidden")]] unsigned Vlenb();

}  // namespace sm10

#endif  // THIRD_PARTY_VLLM_RUNTIME_PROBE_H_
