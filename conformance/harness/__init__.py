"""Programs that are judged: the protocol's messages, the process they come from, and the harness for Python."""
