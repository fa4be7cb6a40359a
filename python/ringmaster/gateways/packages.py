# SPDX-License-Identifier: Apache-2.0
"""What a gateway stands on, and is not in every installation."""


class PackagesMissing(RuntimeError):
    """It is not installed. The text says what to do."""
