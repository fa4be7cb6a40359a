# SPDX-License-Identifier: Apache-2.0
"""The archive that `ringmaster record` writes, read back: by turn or by time, whole or reduced."""
