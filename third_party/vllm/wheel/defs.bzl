# SPDX-License-Identifier: Apache-2.0
"""The rule for vLLM's wheel."""

load("//third_party/vllm/wheel/private:wheel.bzl", _WheelInfo = "WheelInfo", _vllm_wheel = "vllm_wheel")

WheelInfo = _WheelInfo
vllm_wheel = _vllm_wheel
