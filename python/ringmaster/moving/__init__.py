# SPDX-License-Identifier: Apache-2.0
"""Measuring by moving setpoints: through the server's guard, followed until they are there, and put back at any end."""
