"""Naming: the families of dialects that a target may compute instead, and the probes that separate them."""
