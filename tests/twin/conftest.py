# SPDX-License-Identifier: Apache-2.0
"""Lets the tests find their helpers, whatever import mode pytest runs in."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
