"""Targets: the frameworks that are judged, one folder each, imported only when named."""
