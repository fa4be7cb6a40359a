# SPDX-License-Identifier: Apache-2.0
"""A virtual ring and the server that takes its datagrams: started side by side, with the orbit feedback or without."""
