# SPDX-License-Identifier: Apache-2.0
"""Sets a host up for a configuration: what the doctor finds is changed on request, written down, and undone."""
