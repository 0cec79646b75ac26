"""What a reader may copy; a package, so that none that a library installs as `examples` comes first."""
