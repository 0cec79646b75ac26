"""The command ``optimetry harness``, which tries what a target program answers."""
