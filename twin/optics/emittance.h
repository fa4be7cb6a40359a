// SPDX-License-Identifier: Apache-2.0
/** Emittances of a beam matrix. */
#ifndef RM_OPTICS_EMITTANCE_H
#define RM_OPTICS_EMITTANCE_H

/** Eigen-emittances: moduli of the eigenvalues of R Ω, which no symplectic map changes (A. Dragt, F. Neri,
 * G. Rangarajan, Phys. Rev. A 45, 2572). In ascending order; an emittance below rounding of the others is 0.
 *
 * With R = L Lᵀ they are those of the antisymmetric K = Lᵀ Ω L, whose characteristic polynomial in ε² has sums of
 * squares for coefficients: of K's entries, of its 4 × 4 Pfaffians, of its Pfaffian. So the smallest is as precise as
 * the largest, though they may be seven orders of magnitude apart. */
void rm_emittance_eigen(double const r66[36], double emittance[3]);

/** The betatron part: what is left of the beam at δ = 0 and ct = 0, R_bb - R_bl R_ll⁻¹ R_lb; 4 × 4. Without vertical
 * emittance its vertical part is 0, as in AT. */
void rm_emittance_betatron(double const r66[36], double r44[16], double emit_xy[2]);

#endif
