# SPDX-License-Identifier: Apache-2.0
"""Rules of this folder."""

load("//ci/tool/private:tool_wheel.bzl", _ToolWheelInfo = "ToolWheelInfo", _tool_wheel = "tool_wheel")

ToolWheelInfo = _ToolWheelInfo
tool_wheel = _tool_wheel
