# SPDX-License-Identifier: Apache-2.0
"""Where tests of closed loops find the modules beside them."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))  # whatever import mode pytest runs in
