// SPDX-License-Identifier: Apache-2.0
// What the analysis tests look at the compile action of.

int one() { return 1; }
