"""The score interval from the ratings, by loops: a reference without any product code."""

import math

from scipy import stats


def moments(delta, eta, s0, c0):
    """Return s and c: the second moments of the units and of half an urn of s0, by what is seen."""
    seen = sum(delta) + s0 / 2
    s = (sum(x * x for x in delta) + s0**2 / 2) / seen
    return s, (sum(x * y for x, y in zip(delta, eta, strict=True)) + s0 * c0 / 2) / seen


def solved(Do, th, E, sB, n_df, level):
    """Return the ends: the values of theta at which the score is as far off as z or t."""
    (s, B), (n, df) = sB, n_df
    t, z = stats.t.ppf((1 + level) / 2, df), stats.norm.ppf((1 + level) / 2)
    p, x = min(1, Do / s), n * Do / s
    k = (z**2 + 4 * p * (1 - p) * (t**2 - z**2)) / n
    A, b = 1 - k * B, 2 * th + k * s / E
    up = (b + math.sqrt(max(b * b - 4 * A * th**2, 0))) / (2 * A) if A > 1e-9 else math.inf
    low = max(0, th - s / E / (2 * n * math.sqrt(x))) if x > 0 else 0
    b = 2 * low + k * s / E
    low = 2 * low**2 / (b + math.sqrt(max(b * b - 4 * A * low**2, 0))) if low > 0 else 0
    return 1 - up, 1 - low


def plain(rows, d, level=0.95, *, by_ratings=True):
    """Return the ends without the minimum with t, from the ratings, by loops (no product code)."""
    rated = [[x for x in row if x is not None] for row in rows]
    rated = [row for row in rated if row]
    pairable = [row for row in rated if len(row) > 1]
    counted = pairable if by_ratings else rated
    n, N = len(counted), sum(map(len, pairable))
    rb = N / len(pairable)
    shares = {}
    for row in counted:
        for x in row:
            each = 1 / N if by_ratings else 1 / (len(row) * n)
            shares[x] = shares.get(x, 0) + each
    e = {x: sum(p * d(x, y) for y, p in shares.items()) for x in shares}
    E = sum(p * e[x] for x, p in shares.items())
    total = {id(row): sum(d(x, y) for x in row for y in row) for row in rated}
    if by_ratings:
        Do = sum(total[id(row)] / (len(row) - 1) for row in pairable) / N
        De = E * N / (N - 1)
        delta = [total[id(r)] / (len(r) - 1) / rb - Do * (len(r) - rb) / rb for r in pairable]
        eta = [sum(e[x] for x in r) / rb - E * (len(r) - rb) / rb for r in pairable]
    else:
        mean = {id(r): total[id(r)] / (len(r) * (len(r) - 1)) for r in pairable}
        Do, De = sum(mean.values()) / len(pairable), E
        delta = [Do + n / len(pairable) * (mean.get(id(r), Do) - Do) for r in rated]
        eta = [sum(e[x] for x in r) / len(r) for r in rated]
    th = Do / De
    M2 = sum(p * q * d(x, y) ** 2 for x, p in shares.items() for y, q in shares.items())
    S2 = sum(p * e[x] ** 2 for x, p in shares.items())
    m = rb * (rb - 1) / 2
    s0 = (M2 + 2 * (rb - 2) * S2 + (m - 1 - 2 * (rb - 2)) * E**2) / (m * E)
    s0 *= 1 if by_ratings else n / len(pairable)
    s, c = moments(delta, eta, s0, S2 / E)
    B = 3 - 4 * c / E + 4 * (sum(y * y for y in eta) / n - E**2) / E**2
    return solved(Do, th, E, (s, B), (n, n - 1), level)


def plain_drawn(rows, d, *, weights=None, clusters=None, level=0.95):
    """Return the same of alpha where units have weights or stand in clusters, by loops.

    Every unit has two ratings or more.
    """
    n = len(rows)
    w = [x * n / sum(weights) for x in weights] if weights else [1.0] * n
    W = sum(w)
    N = sum(a * len(r) for a, r in zip(w, rows, strict=True))
    own = sum(a * a * len(r) for a, r in zip(w, rows, strict=True))
    rb, shares = N / W, {}
    for a, row in zip(w, rows, strict=True):
        for x in row:
            shares[x] = shares.get(x, 0) + a / N
    e = {x: sum(p * d(x, y) for y, p in shares.items()) for x in shares}
    E = sum(p * e[x] for x, p in shares.items())
    each = [sum(d(x, y) for x in r for y in r) / (len(r) - 1) for r in rows]
    Do = sum(a * q for a, q in zip(w, each, strict=True)) / N
    th = Do * (1 - own / N**2) / E
    off = [(len(r) - rb) / rb for r in rows]
    delta = [Do + a * (q / rb - Do * o - Do) for a, q, o in zip(w, each, off, strict=True)]
    mean = [sum(e[x] for x in r) / rb for r in rows]
    eta = [E + a * (y - E * o - E) for a, y, o in zip(w, mean, off, strict=True)]
    times, df = sum(a * a for a in w) / n, n**2 / sum(a * a for a in w) - 1
    if clusters:
        names = sorted({*clusters})
        inside = [[k for k, c in enumerate(clusters) if c == name] for name in names]
        G = len(names)
        delta = [Do + G / n * sum(delta[k] - Do for k in ks) for ks in inside]
        eta = [E + G / n * sum(eta[k] - E for k in ks) for ks in inside]
        times, df, n = sum(len(ks) ** 2 for ks in inside) / n * G / n, G - 1, G
    M2 = sum(p * q * d(x, y) ** 2 for x, p in shares.items() for y, q in shares.items())
    S2 = sum(p * e[x] ** 2 for x, p in shares.items())
    m = rb * (rb - 1) / 2
    s0 = times * (M2 + 2 * (rb - 2) * S2 + (m - 1 - 2 * (rb - 2)) * E**2) / (m * E)
    s, c = moments(delta, eta, s0, S2 / E)
    B = 3 - 4 * c / E + 4 * (sum(y * y for y in eta) / n - E**2) / E**2
    return solved(Do, th, E, (s, B), (n, df), level)


def chance_of(rows, d, model, w):
    """Return 1 - pe of units with weights w, by loops over pairs of values or of raters."""
    if model == "percent_agreement":
        return 1.0
    values = sorted({x for row in rows for x in row if x is not None}, key=str)
    K = len(values)
    credit = sum(1 - d(x, y) for x in values for y in values)
    if model == "brennan_prediger":
        return 1 - credit / K**2
    if model == "conger_kappa":
        shares = []
        for g in range(len(rows[0])):
            own = [(a, row[g]) for a, row in zip(w, rows, strict=True) if row[g] is not None]
            n_g = sum(a for a, _ in own)
            shares.append({k: sum(a for a, x in own if x == k) / n_g for k in values})
        pairs = [(p, q) for p in shares for q in shares if p is not q]
        return sum(p[x] * q[y] * d(x, y) for p, q in pairs for x in values for y in values) / len(
            pairs
        )
    pi = rated(rows, values, w)
    if model == "fleiss_kappa":
        return sum(pi[x] * pi[y] * d(x, y) for x in values for y in values)
    return 1 - credit / (K * (K - 1)) * sum(p * (1 - p) for p in pi.values())


def rated(rows, values, w):
    """Return the mean share of each value in a unit."""
    answers = [[x for x in row if x is not None] for row in rows]
    return {
        k: sum(a * row.count(k) / len(row) for a, row in zip(w, answers, strict=True)) / sum(w)
        for k in values
    }


def plain_of_model(rows, d, model, level=0.95):
    """Return the ends of a kappa: psi_i is the derivative of its chance term, numerically.

    Every unit has a rating. A unit whose answers are all k moves the chance term as an answer k of
    each rater does, in proportion to the ratings of that rater.
    """
    n, h, one = len(rows), 1e-5, [1.0] * len(rows)
    E = chance_of(rows, d, model, one)

    def moved(k, by):
        return chance_of(rows, d, model, [1.0 + by * (i == k) for i in range(n)])

    psi = [E + n * (moved(i, h) - moved(i, -h)) / (2 * h) for i in range(n)]
    values = sorted({x for row in rows for x in row if x is not None}, key=str)
    pi = rated(rows, values, one)
    e = {x: sum(p * d(x, y) for y, p in pi.items()) for x in values}
    Eu = sum(pi[x] * e[x] for x in values)
    each = dict.fromkeys(values, E)
    if model == "fleiss_kappa":
        each = {x: 2 * e[x] - E for x in values}
    if model == "gwet_ac":
        K = len(values)
        credit = sum(1 - d(x, y) for x in values for y in values) / (K * (K - 1))
        each = {x: 2 * (1 - credit * (1 - pi[x])) - E for x in values}
    if model == "conger_kappa":
        columns = [[row[g] for row in rows if row[g] is not None] for g in range(len(rows[0]))]
        mean = {x: sum(c.count(x) / len(c) for c in columns) / len(columns) for x in values}
        each = {x: 2 * sum(p * d(x, y) for y, p in mean.items()) - E for x in values}
    return _ends(rows, d, E, psi, (pi, e, Eu, each), level)


def _ends(rows, d, E, psi, urn, level):
    pi, e, Eu, each = urn
    n, answers = len(rows), [[x for x in row if x is not None] for row in rows]
    pairable = [row for row in answers if len(row) > 1]
    rb = sum(map(len, pairable)) / len(pairable)

    def apart(row):
        return sum(d(x, y) for x in row for y in row) / (len(row) * (len(row) - 1))

    Do = sum(map(apart, pairable)) / len(pairable)
    delta = [Do + n / len(pairable) * (apart(r) - Do) if len(r) > 1 else Do for r in answers]
    M2 = sum(p * q * d(x, y) ** 2 for x, p in pi.items() for y, q in pi.items())
    S2, m = sum(pi[x] * e[x] ** 2 for x in pi), rb * (rb - 1) / 2
    s0 = (M2 + 2 * (rb - 2) * S2 + (m - 1 - 2 * (rb - 2)) * Eu**2) / (m * Eu) * n / len(pairable)
    c0 = sum(pi[x] * e[x] * each[x] for x in pi) / Eu
    s, c = moments(delta, psi, s0, c0)
    B = 1 - 2 * c / E + (sum(y * y for y in psi) / n - E**2) / E**2
    return solved(Do, Do / E, E, (s, B), (n, n - 1), level)
