"""What the `tagger` stage trains from: the grammar of its sentences, names, and characters."""
