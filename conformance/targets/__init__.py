"""Frameworks under test, one file each, imported only when named."""
