# SPDX-License-Identifier: Apache-2.0
"""What a running workspace does just now, in figures: ``monitor`` looks, each other module knows one kind of thing."""
