# SPDX-License-Identifier: Apache-2.0
"""Rules for vLLM's wheel."""

load("//third_party/vllm/wheel/private:wheel.bzl", _WheelInfo = "WheelInfo", _installed_wheel = "installed_wheel", _vllm_wheel = "vllm_wheel")

WheelInfo = _WheelInfo
installed_wheel = _installed_wheel
vllm_wheel = _vllm_wheel
