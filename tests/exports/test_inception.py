"""INCEpTION: annotations of documents in XMI and WebAnno TSV.

The folder inception_xmi beside this file was written by dkpro-cassis 0.12.0: the layer Birds is one
of document metadata, Note one of spans. The TSV is written by hand from its documentation.
"""

import shutil
import zipfile
from pathlib import Path

import pytest
from cli_support import ok

import setagree as sa
from setagree.errors import DataError, FileError, OptionError
from setagree.exports import FORMATS
from setagree.exports.detection import peek, recognised

WRITTEN = Path(__file__).parent / "inception_xmi"
TRUTH = {
    ("p1.txt", "mia"): {"crow"},
    ("p1.txt", "noa"): {"crow", "gull"},
    ("p2.txt", "mia"): {"heron, grey", "wren|owl#"},
    ("p2.txt", "noa"): {"<b>"},
    ("p3.txt", "mia"): set(),
    ("p3.txt", "noa"): {"gull"},
}
BIRDS = "Birds.bird"


def found(study):
    """Return the annotations of a study as the truth is written."""
    return {(unit, rater): set(labels) for rater, unit, labels in study.to_triples()}


def tsv(*rows, layers=("webanno.custom.Birds|bird",)):
    """Return a document of three tokens in WebAnno TSV, with the cells of each."""
    head = ["#FORMAT=WebAnno TSV 3.3", *(f"#T_SP={layer}" for layer in layers), "", ""]
    tokens = [("1-1", "0-1", "A"), ("1-2", "2-6", "bird"), ("1-3", "6-7", ".")]
    blank = ["_"] * sum(max(layer.count("|"), 1) for layer in layers)
    cells = [*rows, *([blank] * (3 - len(rows)))]
    body = ["\t".join([*token, *more, ""]) for token, more in zip(tokens, cells, strict=True)]
    return "\n".join([*head, "#Text=A bird.", *body, ""])


def put(folder, files):
    """Write files by their names, and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def escaped(labels):
    """Return labels that stand on one span as a cell of TSV has them."""
    texts = [label.replace("|", "\\|").replace("_", "\\_") for label in sorted(labels)]
    return "|".join(f"{text}[{k}]" if len(texts) > 1 else text for k, text in enumerate(texts, 1))


class TestXmi:
    @pytest.mark.parametrize("root", [WRITTEN, WRITTEN / "annotation"])
    def test_what_the_library_wrote(self, root):
        assert [each.name for each in recognised(peek(root), FORMATS)] == ["inception"]
        assert found(sa.read(root, question=BIRDS, blank="empty")) == TRUTH
        with pytest.raises(OptionError, match=r"2 questions, 'Birds\.bird', 'Note\.text'; choose"):
            sa.read(root)
        with pytest.raises(DataError, match=r"1 blank answer \(first: .*p3\.txt/mia\.xmi\)"):
            sa.read(root, question=BIRDS)
        words = ["--question", BIRDS, "--blank", "empty", "-f", "json"]
        assert '"n_ratings": 6' in ok("score", root, *words)

    def test_zip_archives(self, tmp_path):
        for file in WRITTEN.glob("annotation/*/*.xmi"):
            path = tmp_path / "project" / file.relative_to(WRITTEN).with_suffix(".zip")
            path.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(path, "w") as archive:
                archive.write(file, file.name)
                archive.writestr("TypeSystem.xml", "<typeSystemDescription/>")
        put(tmp_path, {"project/curation/p1.txt/CURATION_USER.zip": b"", "project/a.json": "{}"})
        assert found(sa.read(tmp_path / "project", question=BIRDS, blank="empty")) == TRUTH

    def test_a_text_that_is_the_number_of_a_list(self, tmp_path):
        text = (
            '<x:XMI xmlns:x="http://www.omg.org/XMI" xmlns:c="http:///webanno/custom.ecore" '
            'xmlns:cas="http:///uima/cas.ecore"><c:Birds x:id="5" sofa="1" bird="6" stars="6"/>'
            '<cas:StringArray x:id="6"><elements>gull</elements></cas:StringArray></x:XMI>'
        )
        root = put(tmp_path, {"annotation/p1.txt/mia.xmi": text})
        said = r"mia.xmi: '6' in 'Birds.bird' and in .* may be the number of a list, or a value"
        with pytest.raises(FileError, match=said):
            sa.read(root, question="Birds.stars")

    def test_several_values(self, tmp_path):
        text = (
            '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
            'xmlns:custom="http:///webanno/custom.ecore">{}<cas:Sofa xmi:id="1" sofaNum="1"/>'
            '<cas:StringArray xmi:id="6"><elements>gull</elements><elements>crow</elements>'
            "</cas:StringArray></xmi:XMI>"
        )
        inside = '<custom:B sofa="1"><bird>gull</bird><bird>a, b</bird></custom:B>'
        beside = '<custom:B sofa="1" bird="6"/>'
        put(tmp_path, {"d/ann.xmi": text.format(inside), "d/bob.xmi": text.format(beside)})
        assert found(sa.read(tmp_path)) == {
            ("d", "ann"): {"gull", "a, b"},
            ("d", "bob"): {"gull", "crow"},
        }

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("<xmi:XMI", r"p1\.txt/mia\.xmi, line 1, column 0: the XML is not well-formed"),
            (
                '<!DOCTYPE a [<!ENTITY a "a">]><xmi:XMI xmlns:xmi="x">&a;</xmi:XMI>',
                r"p1\.txt/mia\.xmi: it declares a document type",
            ),
        ],
    )
    def test_damaged(self, tmp_path, text, sentence):
        """Cut off or hostile XML is an error with the file."""
        folder = shutil.copytree(WRITTEN, tmp_path / "a")
        put(folder, {"annotation/p1.txt/mia.xmi": text})
        with pytest.raises(FileError, match=sentence):
            sa.read(folder)


class TestTsv:
    @pytest.mark.parametrize("inside", ["", "annotation/"])
    def test_the_truth_comes_back(self, tmp_path, inside):
        files = {
            f"{inside}{unit}/{rater}.tsv": tsv([escaped(labels) or "_"])
            for (unit, rater), labels in TRUTH.items()
        }
        folder = put(tmp_path, files)
        assert [each.name for each in recognised(peek(folder), FORMATS)] == ["inception"]
        assert found(sa.read(folder, blank="empty")) == TRUTH

    def test_spans_of_several_tokens(self, tmp_path):
        put(tmp_path, {"d/ann.tsv": tsv(["gull[1]|crow[2]"], ["gull[1]|crow[2]"])})
        assert found(sa.read(tmp_path)) == {("d", "ann"): {"gull", "crow"}}
        for rows in (
            [["gull"], ["crow"]],
            [["gull"], ["gull"]],
            [["gull[1]|crow[2]"], ["gull[1]"]],
        ):
            put(tmp_path, {"d/ann.tsv": tsv(*rows)})
            with pytest.raises(
                DataError,
                match=r"^d/ann\.tsv has annotations of 'Birds\.bird' in 2 .* Make each",
            ):
                sa.read(tmp_path)

    def test_escapes_and_blanks(self, tmp_path):
        cell = r"a\_b\\[1]|\*[2]|*[3]|x\->y[4]|\[z\][5]|tab\tnl\nx[6]"
        put(tmp_path, {"d/ann.tsv": tsv([cell])})
        labels = {"a_b\\", "*", "x->y", "[z]", "tab\tnl\nx"}
        assert found(sa.read(tmp_path)) == {("d", "ann"): labels}
        put(tmp_path, {"d/ann.tsv": tsv([cell]).replace("\t\n", "\n")})
        assert found(sa.read(tmp_path)) == {("d", "ann"): labels}

    def test_several_layers(self, tmp_path):
        layers = ("a.b.POS|PosValue|coarse", "webanno.custom.Tree|", "webanno.custom.Birds|bird|n")
        text = tsv(["NN", "N", "*", "gull", "1"], layers=layers)
        put(tmp_path, {"d/ann.tsv": text, "d/bob.tsv": text.replace("gull", "crow")})
        known = "4 questions, 'POS.PosValue', 'POS.coarse', 'Birds.bird', 'Birds.n'"
        with pytest.raises(OptionError, match=known):
            sa.read(tmp_path)
        assert found(sa.read(tmp_path, question=BIRDS))["d", "bob"] == {"crow"}

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("#FORMAT=WebAnno TSV 2\n", r"b\.tsv, line 1: expected '#FORMAT=WebAnno TSV 3'"),
            (tsv(["gull"]).replace("\tgull\t", ""), r"b\.tsv, line 6: expected 4 cells; got 3"),
            (tsv(["gull"]).encode("utf-16"), r"b\.tsv is not UTF-8"),
        ],
    )
    def test_damaged(self, tmp_path, text, sentence):
        """Another version, another encoding or a row that is cut off is an error with the place."""
        put(tmp_path, {"d/a.tsv": tsv(["gull"]), "d/b.tsv": text})
        with pytest.raises(FileError, match=rf"d/{sentence}"):
            sa.read(tmp_path)


class TestFolders:
    def test_one_file(self):
        with pytest.raises(DataError, match="has the annotations of one user of one document"):
            sa.read(WRITTEN / "annotation" / "p1.txt" / "mia.xmi")

    def test_other_formats(self, tmp_path):
        with pytest.raises(FileError, match=r"ann\.json' is neither XMI nor TSV; export the proj"):
            sa.read(put(tmp_path / "a", {"annotation/d.txt/ann.json": "{}"}))
        archive = tmp_path / "b" / "annotation" / "d.txt"
        put(tmp_path, {"b/annotation/d.txt/ann.zip": b"PK\x03\x04"})
        with pytest.raises(FileError, match="damaged or cut off"):
            sa.read(tmp_path / "b")
        with zipfile.ZipFile(archive / "ann.zip", "w") as file:
            file.writestr("x.ser", "")
        with pytest.raises(FileError, match=r"ann\.zip: expected one file of XMI or TSV; got 0"):
            sa.read(tmp_path / "b")
        with pytest.raises(FileError, match="has no file of a user in the folder of a document"):
            sa.read(put(tmp_path / "c", {"x.csv": ""}), tool="inception")

    def test_tables_in_folders(self, tmp_path):
        put(tmp_path, {"a/b.tsv": "unit\trater\tlabels\n"})
        assert recognised(peek(tmp_path), FORMATS) == []
        put(tmp_path, {"annotation/ann/d.ann": "A1\tash T1\n", "annotation/ann/d.txt": "x"})
        assert [each.name for each in recognised(peek(tmp_path), FORMATS)] == ["brat"]
