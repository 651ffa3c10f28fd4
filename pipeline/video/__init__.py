"""Videos and the clips that are cut out of them."""
