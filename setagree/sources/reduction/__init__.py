"""Tables that do not fit in memory, reduced to a tally where they are."""

from setagree.sources.reduction.door import Plan, Task, is_large, opened, reduce, reduce_table

__all__ = ["Plan", "Task", "is_large", "opened", "reduce", "reduce_table"]
