# SPDX-License-Identifier: Apache-2.0
"""Plans: which core of a machine does what, how loaded it will be, and what does not fit.

The way of a plan, a module each: the machine (topology, hwloc, machine_file), what is asked of it (demand), what that
costs (costs, memory), which core takes it (assign, place), what follows (predict), and what people see of it (show,
draw). apply writes it into a configuration; watch compares it with a server that runs.
"""
