"""The signatures that the five pages document: parsed from the pages where they are, else from the committed table.

``python -m tests.reference.pages`` writes the table anew.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = ROOT.parent / "shared" / "seeds"
TABLE = Path(__file__).parent / "signatures.json"

METHODS = (
    "append_regularization_ops",
    "apply",
    "apply_gradients",
    "apply_optimize",
    "backward",
    "clear_grad",
    "current_step_lr",
    "get_lr",
    "minimize",
    "restore",
    "set_dict",
    "set_lr",
    "set_lr_scheduler",
    "set_state_dict",
    "state_dict",
    "step",
    "update",
)
"""Every method of which a page prints the signature."""

CLASS = re.compile(r"^(?:- )?class paddle\.(?:fluid\.)?optimizer\.\s*(\w+)\s*\(([^)]*)\)", re.MULTILINE)
METHOD = re.compile(rf"^[ \t]*({'|'.join(METHODS)})\s*\(([^()]*)\)", re.MULTILINE)
ALIAS = re.compile(r"^paddle\.fluid\.optimizer\.(\w+)\s+alias of paddle\.fluid\.optimizer\.(\w+)", re.MULTILINE)

NO_ARGUMENTS = ("dict",)
"""What stands in parentheses where page 001 gives a return type, ``state_dict(dict)``."""

Table = dict[str, dict[str, str]]


def parsed(seeds: Path) -> Table:
    """``{"000 AdamOptimizer": {"__init__": "learning_rate=0.001, …", "minimize": "loss, …"}}`` and aliases."""
    table: Table = {"aliases": {}}
    for file in sorted(seeds.glob("*.txt")):
        page, text = file.name[:3], file.read_text(encoding="utf-8")
        table["aliases"] |= dict(ALIAS.findall(text))
        starts = [*CLASS.finditer(text)]
        ends = [match.start() for match in starts[1:]] + [len(text)]
        for match, end in zip(starts, ends, strict=True):
            methods = {
                name: signature
                for name, signature in METHOD.findall(text[match.end() : end])
                if signature not in NO_ARGUMENTS
            }
            signatures = {"__init__": match[2], **methods}
            table[f"{page} {match[1]}"] = {name: " ".join(signature.split()) for name, signature in signatures.items()}
    return table


def committed() -> Table:
    """The table as it was parsed once."""
    table: Table = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


if __name__ == "__main__":
    TABLE.write_text(json.dumps(parsed(SEEDS), indent=1) + "\n", encoding="utf-8")
