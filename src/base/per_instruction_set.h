// SPDX-License-Identifier: Apache-2.0
/** Before a function that the compiler makes vectors of: a copy of it for each instruction set, of which one is chosen
 * when the program is loaded. For functions whose result is the same to the bit whatever the order of their vectors.
 *
 * Not with clang 14: callers in other files find no symbol of the plain name. Not with sanitizers of either compiler:
 * they would run in the choice, before they are ready themselves. */
#ifndef RM_BASE_PER_INSTRUCTION_SET_H
#define RM_BASE_PER_INSTRUCTION_SET_H

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RM_PER_INSTRUCTION_SET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RM_PER_INSTRUCTION_SET
#endif

#endif
