# SPDX-License-Identifier: Apache-2.0
"""Helpers of the system tests serve here too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "system"))
