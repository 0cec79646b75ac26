"""Makes a static site of results files, which needs no server and no network: matrix, one page a rule, one a target."""
