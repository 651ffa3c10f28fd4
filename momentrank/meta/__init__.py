"""Which measure to trust: experiments on the values of several runs, query by query.

The experiments are those of Togashi et al., *AxIoU: An Axiomatically Justified Measure for Video
Moment Retrieval* (CVPR 2022), section 6 and supplement, for any collection. What needs only values
takes `Values`; axioms and noise score changed runs and changed qrels.
"""
