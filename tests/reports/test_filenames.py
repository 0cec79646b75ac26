"""Files are named after what strangers call their targets and rules."""

import pytest

from optimetry.reports.filenames import LONGEST, FileNames


@pytest.mark.parametrize(
    ("names", "path"),
    [
        (["torch", "adam"], "rule/torch-adam.html"),
        (["PyTorch C++ 2.13.0", "torch.adam_w"], "rule/PyTorch-Cpp-2.13.0-torch.adam_w.html"),
        (["../../a b", ".hidden.", "--x--"], "rule/a-b-hidden-x.html"),
        (["x y", "λ", ""], "rule/x-y.html"),
        (["..", "λ"], "rule/unnamed.html"),
        (["-.a.-", "-", "b-."], "rule/a-b.html"),
        (["b-" + "a" * (LONGEST - 2)], f"rule/b-{'a' * (LONGEST - 2)}.html"),
        (["b-" + "a" * (LONGEST - 1)], "rule/b.html"),
        (["a" * LONGEST], f"rule/{'a' * LONGEST}.html"),
        (["a" * (LONGEST + 1)], f"rule/{'a' * LONGEST}.html"),
        (["first-second-" + "a" * LONGEST, "x"], "rule/first-second-x.html"),
    ],
)
def test_a_name_has_characters_that_every_system_and_every_link_takes(names: list[str], path: str) -> None:
    assert FileNames().named("rule", *names) == path


def test_a_name_that_is_taken_has_a_number_whatever_its_case() -> None:
    names = FileNames()
    paths = [names.named("rule", name) for name in ("Adam", "adam", "ADAM", "adam-2")]
    assert paths == ["rule/Adam.html", "rule/adam-2.html", "rule/ADAM-3.html", "rule/adam-2-2.html"]
    assert names.named("target", "adam") == "target/adam.html"
    assert names.named("rule", "adam", ending="svg") == "rule/adam.svg"
