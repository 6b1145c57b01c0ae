# SPDX-License-Identifier: Apache-2.0
"""Rules that make vLLM's compiled parts."""

load("//third_party/vllm/private:attention_dispatch.bzl", _attention_dispatch = "attention_dispatch")
load("//third_party/vllm/private:audit.bzl", _library_audit = "library_audit")
load("//third_party/vllm/private:isa_proof.bzl", _isa_manifest = "isa_manifest", _isa_proven = "isa_proven")
load("//third_party/vllm/private:level_table.bzl", _level_table = "level_table")
load("//third_party/vllm/private:levels.bzl", _level_kernels = "level_kernels", _level_library = "level_library", _level_plan = "level_plan")
load("//third_party/vllm/private:paths.bzl", _repository_root = "repository_root")

attention_dispatch = _attention_dispatch
isa_manifest = _isa_manifest
isa_proven = _isa_proven
level_kernels = _level_kernels
level_library = _level_library
level_plan = _level_plan
level_table = _level_table
library_audit = _library_audit
repository_root = _repository_root
