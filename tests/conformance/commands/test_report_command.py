"""The command `optimetry report`: what it writes, and what it refuses before it writes anything."""

import pytest

pytestmark = pytest.mark.usefixtures("miniatures")

QUICK = ("--effort", "quick", "--optimizer", "sgd", "--dtype", "float32")


def test_report_makes_tables_of_several_files(optimetry, tmp_path):
    for name in ("a", "b"):
        optimetry("check", "miniatures:Correct", *QUICK, "--out", tmp_path / name)
    status, out, _ = optimetry("report", tmp_path / "a", tmp_path / "b" / "results.jsonl", "--out", tmp_path / "page")
    assert status == 0
    assert out.count("1 verdict: 1 conforms") == 2
    assert (tmp_path / "page" / "table.md").read_text(encoding="utf-8").count("## miniature 1.0") == 2
    assert len((tmp_path / "page" / "table.csv").read_text(encoding="utf-8").splitlines()) == 3


def test_report_refuses_an_unfinished_file_and_writes_nothing(refused, optimetry, tmp_path):
    optimetry("check", "miniatures:Correct", *QUICK, "--out", tmp_path / "a")
    file = tmp_path / "a" / "results.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    assert "unfinished" in refused("report", file, "--out", tmp_path / "page")
    assert not (tmp_path / "page").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--site", "site", "--out", "file"), "--out file: file is a file, must be a folder"),
        (("--out", "page", "--site", "file"), "--site file: file is a file, must be a folder"),
        (("--out", "page", "--badges", "file"), "--badges file: file is a file, must be a folder"),
        (("--out", "page", "--findings", "file"), "--findings file: needs --site"),
    ],
)
def test_usage_is_checked_before_anything_is_written(refused, optimetry, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    optimetry("check", "miniatures:Correct", *QUICK, "--out", "a")
    (tmp_path / "file").write_text("mine")
    assert message in refused("report", "a", *options)
    assert {path.name for path in tmp_path.iterdir()} == {"a", "file"}


def test_an_option_whose_folder_cannot_be_written_is_named(refused, optimetry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    optimetry("check", "miniatures:Correct", *QUICK, "--out", "a")
    (tmp_path / "badges" / "miniature-sgd-float32.json").mkdir(parents=True)
    (tmp_path / "page" / "table.md").mkdir(parents=True)
    assert "--out page: cannot be written: Is a directory" in refused("report", "a", "--out", "page")
    _, _, err = optimetry("report", "a", "--badges", "badges")
    assert err == "optimetry: error: --badges badges: cannot be written: Is a directory\n"
