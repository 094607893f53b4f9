from setagree.sources.reduction.door import reduce
__all__ = ["reduce"]
