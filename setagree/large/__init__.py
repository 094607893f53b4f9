"""Tables that do not fit in memory, reduced to a tally where they are.

What a coefficient needs of a study is how often each multiset of values (a pattern) occurs among
the units; where it asks who gave which answer, how often each set of (rater, value). A study of
10^10 ratings has far fewer patterns than units, so they are found where the ratings are, and only
they come home.

The steps
---------
DuckDB, Polars and Spark run the same ones (`program`, in the words of narwhals):

1. The distinct answers, each with its number of rows, come home and are read once by the ordinary
   rules: label syntax, blanks, case, codebook; numbers or categories. The same pass counts rows
   without a unit or a rater.
2. A table goes up: for each distinct answer the code of its value and two random 40-bit numbers
   of the value. Joined with the rows, it is small enough to be copied to every worker.
3. The pairs of unit and rater are counted, and repeats are an error (`assume_unique` skips this).
4. A unit's fingerprint is its number of ratings and the two sums of its numbers. Lists cannot be
   aggregated in every engine, sums can.
5. Units are grouped by fingerprint: how many there are, and one that stands for them. Only the
   ratings of these are looked up again; as (pattern, value, count) they come home.

With raters kept (``keep_raters=True``, or a coefficient that asks for them), the table of step 2
has three random numbers of each value below the prime p = 2^31 - 1. A second table goes up, of the
raters, with a code and three such numbers of each (`raters`). The sums of step 4 are then over the
products of the two, modulo p; and in step 5 (pattern, rater, value, count) come home. Step 3 is
left out, as a rater who stands in a pattern twice shows there; only then the pairs are searched for
their names, and are an error under ``assume_unique``, too.

Files of text (CSV, TSV, JSON lines) are first copied into Parquet, three columns of them, in the
folder for what does not fit (`copies`). The readers of tables in memory do that, some megabytes at
a time, so that quotes, blank lines, encodings and rows that do not fit mean what they mean there.

Dask has its rows shuffled once by unit; then each partition is coded and reduced by the code for
tables in memory (`parts`), and the tallies are merged a few at a time, on the workers. So are the
partitions of Spark, and files one by one, under ``partitioned_by_unit=True``, where nothing is
shuffled at all. Merging tallies is associative and commutative.

What is exact
-------------
Types of columns that an engine compares or hands over otherwise than memory does (lists and
objects as identifiers, intervals, whole numbers of 128 bits as identifiers or labels, times to the
nanosecond as answers) are refused, not rounded. Of objects, Dask makes text unless it is told not
to: a frame just made is taken as it was before, and of others those with objects that are no text
are refused.

The patterns are those of the table in memory, so that every number is the same up to the order of
sums (1e-12). Two different patterns of equally many ratings share a fingerprint with a
probability of at most 2^-80 = 8e-25: they must agree in two sums, and whatever all other numbers
are, at most one value of 2^40 of one number makes them. With 10^8 patterns, so 5 x 10^15 pairs,
the odds that any two do are below 5e-9; with 10^6 patterns, below 5e-13. The sums fit in 64 bits
up to 2^23 ratings of one unit.

With raters kept, let c_gv be how much more often rater g gave v in one of the patterns than in the
other: not all are 0, and none is so modulo p unless it is 0. The sums of a_g b_v modulo p, with a_g
and b_v random below p, are equal only if sum_gv c_gv a_g b_v = 0 modulo p. That is a polynomial of
degree 2 other than 0, of which at most a share of 2/p of all choices of the a and b is a root
(Schwartz 1980; Zippel 1979). Three independent numbers make it (2/p)^3, which is 2^-90 = 8e-28; the
odds that any two of 10^8 patterns are taken for one are below 5e-12. Every product is below 2^62,
what is summed below 2^31, and the sums fit in 64 bits up to 2^32 ratings of one unit. The patterns
must then also add up to the ratings of each rater (not on Dask, where nothing rests on fingerprints
that are not compared afterwards).

In the end the patterns must add up to the rows of each value that step 1 counted, one by one. A
collision, a partition that was read twice or not at all, or a table that changed between the passes
is therefore an error and not a number.

Under ``partitioned_by_unit=True`` a unit in two parts is two units. Nothing can tell that exactly
without the shuffle that is being saved; of files it is an error where an estimate of how many units
there are says that it is so for many.

What it costs
-------------
Memory here: reckoned, 100 bytes an entry (pattern, value, count) while it arrives, 12 afterwards,
and a few entries a pattern. So the number of patterns decides. It grows more slowly than the
units; generated ratings by five raters with 30 labels, one in ten missing, gave::

    units        at most two labels      up to five labels
                 (465 label sets)        (5,000 to 45,000)
    10,000                   2,636                   8,168
    100,000                 12,841                  68,254
    1,000,000               56,561                 531,234
    22,222,014             347,385

which is about units^0.65 for short answers. Long answers leave nearly every unit its own pattern
until there are millions of units; then the reduction saves the text, not the count.

Raters that are kept make more patterns: those of who gave what. An answer of a pattern takes 150
bytes while it arrives, and 8 more afterwards. The same kind of ratings, by two raters and by five,
gave, without raters and with them::

    units        two raters             five raters
                 at most two labels     at most two labels     up to five labels
    10,000           988      1,222       2,674      4,046       8,179      9,057
    100,000        3,090      4,174      12,778     25,043      68,145     82,624
    1,000,000      8,011     11,773      56,314    139,070     530,875    715,472

so up to half as many again with two raters, up to two and a half times as many with five; never
more than the units. The more raters take turns on the units, the nearer it comes to that: raters
drawn from a crowd leave nearly every unit a pattern of its own. The time was the same with raters
and without, 15 s for the 4.5 million short answers on a million units by five raters with
``memory_limit="1GB"``, as the search for repeats falls away.

Time: 10^8 ratings (22 million units, 0.9 GB of Parquet, rows in random order inside 23 files) took
DuckDB 58 and 105 s on four shared cores with ``memory_limit="1GB"``, of the process at most 1.26
GB; 63 s and 0.75 GB with ``assume_unique=True`` and a limit of 500 MB; 46 s and 0.92 GB file by
file.
Polars streams what it can and does not write to disk what it cannot.

Text is read on one core before that: 1.6 million rows of CSV a second, 0.2 million of JSON lines
(generated rows of three short cells), with a quarter of a GB in all. The copy took a tenth of the
space. Parquet spares all that.

Shuffle volume: step 3 moves unit, rater and count of each pair; step 4 moves unit and three numbers
of each unit (four where raters are kept), or of each rating where the ratings of a unit lie in
different tasks; step 5 moves patterns, and the ratings once more where the patterns are too many to
be copied to every worker. Spark wrote, compressed, 24 bytes a rating for 9 million ratings of 2
million units (two partitions, each of whole units in random order), 17 with ``assume_unique=True``,
and 22 KB in all with ``partitioned_by_unit=True``. Carried over to 10^10 ratings that is 240 GB,
170 GB, and next to nothing; ratings of a unit that are scattered over all partitions cost up to a
row of 40 bytes each in step 4, before compression. Dask moves unit, rater and code of each rating
once. Where you can, write the ratings of a unit into one file.

At 10^10 ratings
----------------
Reckoned from the above, not run. Two thousand million units with five raters and short answers
make some 7 million patterns (22 million units made 347,385, and 90 times the units are 90^0.65 =
19 times the patterns): 2 GB here while their entries arrive, a quarter of that afterwards. DuckDB
on one such machine takes two to three hours and half a terabyte of disk for what does not fit,
file by file a third of that; a cluster divides the time and moves the volume above. Copying CSV
first takes another two hours on one core. Afterwards analytic standard errors cost seconds and a
bootstrap counts patterns; `permutation_test` writes every rating out, and is not for that size.

Parts can be reduced where and when they arrive, and the tallies merged (pickled in between)::

    monday = sa.tally(spark.read.parquet("ratings/monday"), partitioned_by_unit=True)
    week = monday.merge(tuesday)
    sa.agreement(week)

The random numbers have a fixed seed, so that every run finds the same patterns in the same table.

Who fails
---------
A worker that dies has its tasks run again by Dask or Spark; when they give up, the error says
that there is no result. An engine that runs out of memory says what to raise. Ctrl-C stops DuckDB
within a second, and the folder of what did not fit is removed; a process that is killed leaves it
behind (``setagree-...``, in `spill` or among the temporary files), to be deleted by hand.

Limits
------
Who gave which answer is gone, unless raters are kept for `conger_kappa` and `cohen_kappa`; which
unit got it is gone always. `scott_pi` needs but the number of raters. Everything by rater or by
pair of raters, and whatever draws or leaves out raters, needs the study in memory. Columns of flags
are not reduced. Ids of units and raters lose the space around them and have their accents composed
as in memory, but no warning says which were spelled in two ways.
"""
