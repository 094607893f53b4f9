"""NVivo: tables that lost their raters are refused."""

import pytest
from exports.csv_writers import read

from setagree.errors import DataError


@pytest.mark.parametrize(
    "text",
    [
        ",A : drama,B : noir\n1 : Files\\\\f1,3,0\n",
        "Code,File,File Folder,Kappa,Agreement (%)\nCodes\\\\drama,f1,Files,1,100\n",
    ],
)
def test_what_lost_its_raters_is_refused(text, save):
    with pytest.raises(DataError, match="matrix coding query for each user"):
        read(save(text))
