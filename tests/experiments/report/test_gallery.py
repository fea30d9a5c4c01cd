"""The picture of what detectors accept in the plane."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from pyod_gessvdd.cli import main
from pyod_gessvdd.cli.gallery import DETECTORS
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors
from pyod_gessvdd.experiments.report.gallery import SHAPES, draw_rows, gallery


@pytest.mark.parametrize("shape", SHAPES)
def test_a_quarter_of_the_rows_are_outliers_and_the_seed_decides(shape):
    X, y = draw_rows(shape, 1)
    assert (X.shape, y.sum()) == ((200, 2), 50)
    assert np.abs(X).max() < 7.5
    assert np.array_equal(X, draw_rows(shape, 1)[0])
    assert not np.array_equal(X, draw_rows(shape, 2)[0])


def test_a_panel_per_detector_with_its_name_and_its_errors():
    specs = ["gessvdd", "knn", "hbos"]
    figure = gallery(resolve_detectors(specs), columns=2)
    titles = [panel.get_title() for panel in figure.axes if panel.get_visible()]
    assert [title.splitlines()[0] for title in titles] == ["GESSVDD", "KNN", "HBOS"]
    X, y = draw_rows()
    model = resolve_detectors("knn")[0].build(0, contamination=0.25).fit(X)
    assert titles[1].splitlines()[1] == f"{(model.predict(X) != y).sum()} errors"


def test_a_detector_that_cannot_be_fitted_has_the_reason_in_its_panel():
    (panel,) = gallery(resolve_detectors("tests.experiments.bad_detectors:Raises")).axes
    assert [text.get_text() for text in panel.texts] == ["no fit today"]


def test_the_command_writes_the_picture(tmp_path):
    out = tmp_path / "g.png"
    done = CliRunner().invoke(main, ["gallery", "-d", "knn,ecod", "--shape", "ring", "--out", str(out)])
    assert (done.exit_code, done.stdout) == (0, f"{out}\n")
    assert out.stat().st_size > 5000


@pytest.mark.parametrize("name", ["g.docx", "nowhere/g.png"])
def test_a_picture_that_cannot_be_written_is_said_in_one_sentence(tmp_path, name):
    done = CliRunner().invoke(main, ["gallery", "-d", "ecod", "--out", str(tmp_path / name)])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"gessvdd: the picture cannot be written to {str(tmp_path / name)!r}: ")


def test_all_that_are_drawn_by_default_can_be_built():
    assert len(resolve_detectors(DETECTORS)) == len(DETECTORS)
