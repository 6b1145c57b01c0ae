# SPDX-License-Identifier: Apache-2.0
"""Public entry points of the ISA contract: targets built at a level whatever the command line's platform is."""

load("//toolchains/isa/private:at_level.bzl", _at_level = "at_level", _level_objects = "level_objects", _level_test = "level_test", _level_transition = "level_transition", _platform_of = "platform_of")

at_level = _at_level
level_objects = _level_objects
level_test = _level_test
level_transition = _level_transition
platform_of = _platform_of
