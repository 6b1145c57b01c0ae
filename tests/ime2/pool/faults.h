// SPDX-License-Identifier: Apache-2.0
// Lets the switch or the making of a thread fail where a test says so; everything else is the real thing. Linked with
// --wrap of the three functions.
#ifndef TESTS_IME2_POOL_FAULTS_H
#define TESTS_IME2_POOL_FAULTS_H

#include <string>

// "none", or STEP:ERRNO:WHERE; WHERE is the hart, or for `thread` how many threads are made before.
bool set_fault(const std::string& text);

#endif
