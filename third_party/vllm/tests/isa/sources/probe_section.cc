// SPDX-License-Identifier: Apache-2.0
[[gnu::section("sm10_probe_text")]] void tries() { asm volatile(".insn 4, 0x02840457"); }
