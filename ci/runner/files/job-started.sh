#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The runner starts this before a job's first step; the job does not run if it fails.
exec /usr/local/bin/sm10-runner hook job-started
