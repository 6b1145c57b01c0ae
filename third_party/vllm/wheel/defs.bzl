# SPDX-License-Identifier: Apache-2.0
"""The rules for vLLM's wheel and its provenance."""

load("//third_party/vllm/wheel/private:provenance.bzl", _wheel_provenance = "wheel_provenance")
load("//third_party/vllm/wheel/private:wheel.bzl", _WheelInfo = "WheelInfo", _vllm_wheel = "vllm_wheel")

WheelInfo = _WheelInfo
vllm_wheel = _vllm_wheel
wheel_provenance = _wheel_provenance
