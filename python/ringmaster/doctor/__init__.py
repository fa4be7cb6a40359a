# SPDX-License-Identifier: Apache-2.0
"""The doctor: what a host is like, what it should be like for a use, and the commands that mend it. Changes nothing."""
