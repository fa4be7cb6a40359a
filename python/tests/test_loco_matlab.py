# SPDX-License-Identifier: Apache-2.0
"""Files of MATLAB's LOCO: SPEAR3's measured response, and the fit that is stored with it."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io

from ringmaster.loco.fit import Fitter
from ringmaster.loco.matlab import is_loco_file, load_loco
from ringmaster.loco.model import reading

SPEAR3 = Path(__file__).parents[2] / "../shared/data/loco/spear3_loco.mat"
needs_spear3 = pytest.mark.skipif(not SPEAR3.exists(), reason=f"measured data is not here: {SPEAR3}")


@needs_spear3
def test_model_is_the_stored_one() -> None:
    """At the stored parameters of the last iteration."""
    file = load_loco(SPEAR3)
    last = file.stored[-1]
    answers = file.model.answers(last.state.gradients)
    residual = (file.data.clean - reading(answers, last.state)) * file.data.weights
    assert (residual**2).sum() / (residual.size - 505) == pytest.approx(last.chi2, rel=5e-5)


@needs_spear3
def test_fit_reaches_the_stored_chi2() -> None:
    file = load_loco(SPEAR3)
    found = Fitter(file.model, file.data, file.options, file.begin).run()
    last = file.stored[-1]
    assert found.parameters == 505
    assert found.used == 504
    assert found.reduced <= last.chi2
    off = (found.state.gradients + file.stored[0].values - last.values) / last.sigma
    assert np.sqrt(np.mean(off**2)) < 0.5
    assert np.abs(off).max() < 1
    assert np.median(found.sigma.gradients / last.sigma) == pytest.approx(1, abs=0.02)


def test_what_is_no_such_file(tmp_path: Path) -> None:
    other = tmp_path / "other.mat"
    scipy.io.savemat(other, {"LocoMeasData": np.eye(2)})
    assert not is_loco_file(other)
    with pytest.raises(ValueError, match="lacks RINGData, BPMData"):
        load_loco(other)
    text = tmp_path / "text.mat"
    text.write_text("no MATLAB here")
    assert not is_loco_file(text)
    with pytest.raises(ValueError, match="no MATLAB file"):
        load_loco(text)
