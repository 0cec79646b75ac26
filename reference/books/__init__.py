"""Books: each is a collection of documents whose rules a target can be judged by; importing this package fills them.

The rules of ``fluid``, the default book, stand in `optimetry.reference.rules`, one for each page. A rule of another
book is named with it: ``torch.adam`` is what the docstring of ``torch.optim.Adam`` says, ``papers.adam`` what the
publication of the algorithm does.
"""

from optimetry.reference import rules as _fluid  # noqa: F401  # enters the rules of fluid
from optimetry.reference.books import papers as _papers  # noqa: F401
from optimetry.reference.books import torch as _torch  # noqa: F401
from optimetry.reference.rule import BOOKS

__all__ = ["BOOKS"]
