/* SPDX-License-Identifier: Apache-2.0 */
int answer(void) {
    return 42;
}
