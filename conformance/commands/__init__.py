"""The command ``optimetry`` and its worker processes."""
