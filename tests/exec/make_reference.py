#!/usr/bin/env python3
"""Writes the expected values of tests/exec: every elementwise op on every dtype it takes.

Independent of the C evaluators: integers are Python's, floats are exact rationals (or 60 and more decimal digits
where a function is transcendental) rounded once, here. Where NumPy has the dtype and a correctly rounded operation, its
answer is compared too. Files hold bit patterns, one row for each operand and then one for each op:

    <group>.<dtype>.npy      unsigned integers of the dtype's width (casts: 64 bits), shape (rows, cases)
    cases.txt                a line for each file: its name, then what its rows are

Run it by hand when an op is added: python3 make_reference.py (needs NumPy).
"""
import decimal
import math
import os
import random
import warnings
from fractions import Fraction

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference")

# name: (mantissa bits, exponent bits, has infinities)
FLOATS = {"f16": (10, 5, True), "bf16": (7, 8, True), "f32": (23, 8, True), "f64": (52, 11, True),
          "f8e4m3": (3, 4, False), "f8e5m2": (2, 5, True)}
INTS = {"i8": (8, True), "u8": (8, False), "i16": (16, True), "u16": (16, False),
        "i32": (32, True), "u32": (32, False), "i64": (64, True), "u64": (64, False)}
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


# ---- dtypes as sets of values ----

def bits_of_dtype(dt):
    if dt == "bool":
        return 8
    return INTS[dt][0] if dt in INTS else 1 + FLOATS[dt][0] + FLOATS[dt][1]


def encode_float(dt, v, negative_zero=False):
    """Bits of the nearest value, ties to even. v: Fraction, or a float for nan and infinities."""
    m, e, has_inf = FLOATS[dt]
    top = (1 << e) - 1
    sign_at = m + e
    nan = (top << m) | ((1 << m) - 1 if not has_inf else 1 << (m - 1))
    if isinstance(v, float):
        if math.isnan(v):
            return nan
        if math.isinf(v):
            return nan if not has_inf else (top << m) | ((1 << sign_at) if v < 0 else 0)
        negative_zero = negative_zero or (v == 0 and math.copysign(1, v) < 0)
        v = Fraction(v)
    if v == 0:
        return (1 << sign_at) if negative_zero else 0
    sign = (1 << sign_at) if v < 0 else 0
    v = abs(v)
    emin = 2 - (1 << (e - 1))
    exp = v.numerator.bit_length() - v.denominator.bit_length()
    if v < Fraction(2) ** exp:
        exp -= 1
    step = max(exp, emin) - m
    q = v / Fraction(2) ** step
    n = q.numerator // q.denominator
    rest = q - n
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n & 1):
        n += 1
    # n counts steps: below 2^m it is subnormal; a carry into the next binade adds up by itself
    bits = n if max(exp, emin) == emin and n < (1 << m) else ((max(exp, emin) - emin + 1) << m) + n - (1 << m)
    largest = (top << m) - 1 if has_inf else (top << m) | ((1 << m) - 2)
    if bits > largest:
        return nan if not has_inf else sign | (top << m)
    return sign | bits


def decode(dt, bits):
    """The value: int, bool as int, or float (every format here is a subset of double)."""
    if dt == "bool":
        return bits & 1
    if dt in INTS:
        width, signed = INTS[dt]
        return bits - (1 << width) if signed and bits >> (width - 1) else bits
    m, e, has_inf = FLOATS[dt]
    sign = -1.0 if bits >> (m + e) & 1 else 1.0
    exp, man = bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    emin = 2 - (1 << (e - 1))
    if exp == (1 << e) - 1 and has_inf:
        return math.nan if man else sign * math.inf
    if exp == (1 << e) - 1 and not has_inf and man == (1 << m) - 1:
        return math.nan
    if exp == 0:
        return sign * math.ldexp(man, emin - m)
    return sign * math.ldexp((1 << m) + man, exp - 1 + emin - m)


def wrap(dt, v):
    if dt == "bool":
        return int(v != 0)
    return v & ((1 << INTS[dt][0]) - 1)


# ---- operations on values; float results are Fractions or special floats ----

def neg_zero(x):
    return x == 0 and math.copysign(1, x) < 0


def f_add(a, b):
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    s = Fraction(a) + Fraction(b)
    return s if s else (-0.0 if neg_zero(a) and neg_zero(b) else 0.0)


def f_mul(a, b):
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    p = Fraction(a) * Fraction(b)
    return p if p else math.copysign(1, a) * math.copysign(1, b) * 0.0


def f_div(a, b):
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)) or (a == 0 and b == 0):
        return math.nan
    sign = math.copysign(1, a) * math.copysign(1, b)
    if math.isinf(a) or b == 0:
        return sign * math.inf
    if math.isinf(b) or a == 0:
        return sign * 0.0
    return Fraction(a) / Fraction(b)


def f_fma(a, b, c):
    if math.isnan(a) or math.isnan(b) or math.isnan(c):
        return math.nan
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if math.isinf(c):
        return c
    s = Fraction(a) * Fraction(b) + Fraction(c)
    if s:
        return s
    product_negative = math.copysign(1, a) * math.copysign(1, b) < 0
    exact_zeros = (a == 0 or b == 0) and c == 0
    return -0.0 if exact_zeros and product_negative and neg_zero(c) else 0.0


def f_max(a, b):
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def f_min(a, b):
    return math.nan if math.isnan(a) or math.isnan(b) else min(a, b)


def f_sqrt(x):
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0 or math.isinf(x):
        return x
    v = Fraction(x)
    k = 1200                                      # more bits than any rounding looks at
    scaled = (v.numerator << (2 * k)) // v.denominator
    s = math.isqrt(scaled)
    exact = s * s == scaled and scaled * v.denominator == v.numerator << (2 * k)
    return Fraction(2 * s + (0 if exact else 1), 1 << (k + 1))


def f_trunc(x):
    return x if not math.isfinite(x) or x == 0 else math.copysign(float(math.trunc(x)), x)


def f_floor(x):
    return x if not math.isfinite(x) or x == 0 else float(math.floor(x))


# ---- transcendental functions, by decimal arithmetic ----

decimal.getcontext().Emax = decimal.MAX_EMAX
decimal.getcontext().Emin = decimal.MIN_EMIN
PREC = 70
TINY, HUGE = Fraction(1, 1 << 2000), Fraction(1 << 2000)    # stand for what underflows or overflows every format


def dec(x):
    return decimal.Decimal(x)


def with_prec(n, fn):
    with decimal.localcontext() as ctx:
        ctx.prec = n
        return fn()


LN2 = with_prec(120, lambda: dec(2).ln())


def arctan_inverse(n, prec):
    with decimal.localcontext() as ctx:
        ctx.prec = prec
        x = dec(1) / n
        total, term, k, square = x, x, 1, dec(n) * n
        while abs(term) > dec(10) ** -(prec - 2):
            term = -term / square
            k += 2
            total += term / k
        return +total


PI = with_prec(800, lambda: 4 * (4 * arctan_inverse(5, 800) - arctan_inverse(239, 800)))


def exp_decimal(d):
    if d > 1500:
        return HUGE
    if d < -1500:
        return TINY
    return Fraction(with_prec(PREC, lambda: d.exp()))


def f_exp(x):
    if math.isnan(x) or x == math.inf:
        return x
    return 0.0 if x == -math.inf else exp_decimal(dec(x))


def f_exp2(x):
    if math.isnan(x) or x == math.inf:
        return x
    return 0.0 if x == -math.inf else exp_decimal(with_prec(2 * PREC, lambda: dec(x) * LN2))


def f_log(x):
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0:
        return -math.inf
    return x if math.isinf(x) else Fraction(with_prec(PREC, lambda: dec(x).ln())) if x != 1 else 0.0


def f_log2(x):
    v = f_log(x)
    if isinstance(v, float):
        return v
    m, e = math.frexp(x)
    return Fraction(e - 1) if m == 0.5 else Fraction(with_prec(PREC, lambda: dec(x).ln() / LN2))


def alternating(x, first):
    """x^first/first! - x^(first + 2)/(first + 2)! + ..., with x less the multiples of 2 pi."""
    with decimal.localcontext() as ctx:
        ctx.prec = 760
        r = dec(x) % (2 * PI)
        ctx.prec = 400
        total = term = +r if first else decimal.Decimal(1)
        k = first
        while term and abs(term) > dec(10) ** -390 * abs(r):
            term = -term * r * r / ((k + 1) * (k + 2))
            k += 2
            total += term
        return Fraction(total)


def f_sin(x):
    return math.nan if not math.isfinite(x) else x if x == 0 else alternating(x, 1)


def f_cos(x):
    return math.nan if not math.isfinite(x) else 1.0 if x == 0 else alternating(x, 0)


def f_tanh(x):
    if math.isnan(x) or x == 0:
        return x
    if abs(x) > 100:
        return math.copysign(1.0, x)
    v = Fraction(x)
    if abs(x) < 1e-8:
        return v - v ** 3 / 3 + 2 * v ** 5 / 15
    e = Fraction(with_prec(PREC, lambda: (2 * dec(x)).exp()))
    return (e - 1) / (e + 1)


def f_pow(a, b):
    try:
        special = not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0 or a == 1
        if special:
            return math.pow(a, b)
    except ValueError:                            # Python objects to 0 ** negative where C gives an infinity
        odd = b == math.floor(b) and math.isfinite(b) and int(b) % 2 == 1
        return math.copysign(math.inf, a) if odd else math.inf
    whole = b == math.floor(b)
    if a < 0 and not whole:
        return math.nan
    sign = -1 if a < 0 and int(b) % 2 == 1 else 1
    if whole and abs(b) <= 64:
        v = Fraction(a) ** int(b)
        return v
    return sign * exp_decimal(with_prec(2 * PREC, lambda: dec(b) * dec(abs(a)).ln()))


# ---- integers ----

def i_floordiv(a, b):
    return 0 if b == 0 else a // b


def i_truncdiv(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def i_shl(dt):
    return lambda a, b: a << b if 0 <= b < INTS[dt][0] else 0


def i_shr(dt):
    return lambda a, b: a >> (b if 0 <= b < INTS[dt][0] else 64)


def rotate(x, n):
    return (x << n | x >> (32 - n)) & 0xffffffff


def threefry(counter, key):
    k = [key & 0xffffffff, key >> 32]
    k.append(0x1BD11BDA ^ k[0] ^ k[1])
    x = [(counter & 0xffffffff) + k[0] & 0xffffffff, (counter >> 32) + k[1] & 0xffffffff]
    for i in range(20):
        x[0] = x[0] + x[1] & 0xffffffff
        x[1] = rotate(x[1], [13, 15, 26, 6, 17, 29, 16, 24][i % 8]) ^ x[0]
        if i % 4 == 3:
            j = i // 4 + 1
            x[0] = x[0] + k[j % 3] & 0xffffffff
            x[1] = x[1] + k[(j + 1) % 3] + j & 0xffffffff
    return x[1] << 32 | x[0]


UNARY = {"float": {"neg": lambda a: -a, "recip": lambda a: f_div(1.0, a), "sqrt": f_sqrt, "exp": f_exp, "exp2": f_exp2,
                   "log": f_log, "log2": f_log2, "sin": f_sin, "cos": f_cos, "tanh": f_tanh, "trunc": f_trunc, "floor": f_floor},
         "int": {"neg": lambda a: -a, "not": lambda a: ~a},
         "bool": {"not": lambda a: 1 - a}}
BITS = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
BINARY = {"float": {"add": f_add, "sub": lambda a, b: f_add(a, -b), "mul": f_mul, "fdiv": f_div,
                    "max": f_max, "min": f_min},
          "int": {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
                  "max": max, "min": min,
                  "floordiv": i_floordiv, "floormod": lambda a, b: a - b * i_floordiv(a, b),
                  "truncdiv": i_truncdiv, "truncmod": lambda a, b: a - b * i_truncdiv(a, b), **BITS},
          "bool": {"max": max, "min": min, **BITS}}
COMPARE = {"lt": lambda a, b: a < b, "ne": lambda a, b: a != b, "eq": lambda a, b: a == b}


def kind(dt):
    return "bool" if dt == "bool" else "int" if dt in INTS else "float"


def encode(dt, v):
    return encode_float(dt, v) if dt in FLOATS else wrap(dt, v)


def cast(from_dt, to_dt, v):
    if to_dt == "bool":
        return int(v != 0)
    if to_dt in FLOATS:
        return encode_float(to_dt, v if from_dt in FLOATS else Fraction(v))
    if from_dt in FLOATS:
        width, signed = INTS[to_dt]
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        if math.isnan(v):
            v = 0
        v = (low if v < 0 else high) if math.isinf(v) else min(max(math.trunc(v), low), high)
    return wrap(to_dt, v)


# ---- operands ----

def specials(dt):
    """Bit patterns worth meeting each other, the most telling first."""
    if dt == "bool":
        return [0, 1]
    if dt in INTS:
        width, signed = INTS[dt]
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        vs = [0, 1, -1, low, high, 2, 7, -7, width - 1, width, 3, -2, low + 1, high - 1, 10, 1 << (width // 2),
              high // 2, -3, 100]
        return list(dict.fromkeys(wrap(dt, v) for v in vs))
    m, e, has_inf = FLOATS[dt]
    sign, one = 1 << (m + e), encode_float(dt, 1.0)
    largest = (((1 << e) - 1) << m) - 1 if has_inf else (((1 << e) - 1) << m) | ((1 << m) - 2)
    vs = [0, sign, one, sign | one, encode_float(dt, math.inf), sign | encode_float(dt, math.inf),
          encode_float(dt, math.nan), 1, sign | 1, largest, sign | largest, 1 << m, (1 << m) - 1, one + 1, one - 1]
    vs += [encode_float(dt, x) for x in (0.5, 2.5, -1.5, 3.0, -2.0, 10.0, -0.75, 0.1, 1.5, -0.5, 3.1415926, 100.0,
                                         -20.5)]
    return list(dict.fromkeys(vs))


def some(dt, rng, n):
    """Random operands: half any bits, half numbers of everyday size."""
    if dt == "bool":
        return [rng.randrange(2) for _ in range(n)]
    width = bits_of_dtype(dt)
    out = []
    for i in range(n):
        if i % 2:
            out.append(rng.getrandbits(width))
        elif dt in INTS:
            out.append(wrap(dt, rng.randint(-100, 100)))
        else:
            out.append(encode_float(dt, rng.gauss(0, 1) * 10 ** rng.uniform(-2, 2)))
    return out


def tuples(dt, arity, n_special, n_random, seed):
    rng = random.Random(seed + dt)
    s = specials(dt)[:n_special]
    rows = [[]]
    for _ in range(arity):
        rows = [r + [v] for r in rows for v in s]
    rows += [list(t) for t in zip(*[some(dt, rng, n_random) for _ in range(arity)])]
    return rows


# ---- files ----

CASES = []


def save(name, width, rows):
    """rows: (what it is, bit patterns)"""
    array = np.array([r for _, r in rows], dtype="<u%d" % (width // 8))
    np.save(os.path.join(HERE, name + ".npy"), array)
    CASES.append(name + " " + " ".join(what for what, _ in rows))


def check_numpy(dt, op, operands, expected):
    """NumPy's own answers, for the operations that it rounds correctly."""
    fn = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "fdiv": np.divide, "sqrt": np.sqrt, "trunc": np.trunc,
          "floor": np.floor, "max": np.maximum, "min": np.minimum, "neg": np.negative}.get(op)
    if dt not in NUMPY or fn is None:
        return
    as_uint = "<u%d" % (bits_of_dtype(dt) // 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = fn(*[np.array(o, dtype=as_uint).view(NUMPY[dt]) for o in operands])
    want = np.array(expected, dtype=as_uint).view(NUMPY[dt])
    same = (np.isnan(got) & np.isnan(want)) | (got == want)
    same &= np.isnan(got) | (got != 0) | (np.signbit(got) == np.signbit(want)) | (op in ("max", "min"))
    assert same.all(), (dt, op, [hex(o[int(np.argmin(same))]) for o in operands])


def elementwise(group, dt, table, arity, n_special, n_random):
    if not table:
        return
    cases = tuples(dt, arity, n_special, n_random, group)
    columns = [list(c) for c in zip(*cases)]
    rows = list(zip("abc", columns))
    for op, fn in table.items():
        out = [encode("bool" if op in COMPARE else dt, fn(*[decode(dt, v) for v in case])) for case in cases]
        if op not in COMPARE:
            check_numpy(dt, op, columns, out)
        rows.append((op, out))
    save(group + "." + dt, bits_of_dtype(dt), rows)


def conversions(dt, dtypes):
    column = [c[0] for c in tuples(dt, 1, 99, 96, "cast")]
    if dt in FLOATS:                              # around the ends of the integers, and ties of narrower floats
        for w in (7, 8, 15, 16, 31, 32, 63, 64):
            column += [encode_float(dt, s * (2.0 ** w + d)) for s in (1, -1) for d in (-1, -0.5, 0, 0.5, 1)]
        ties = (464, 465, 65519, 65520, 61440, 2049, 2051, Fraction(257, 256))
        column += [encode_float(dt, Fraction(x)) for x in ties]
    elif dt != "bool":                            # integers that a float of any width has to round
        column += [wrap(dt, s * ((1 << e) + d)) for s in (1, -1) for e in (9, 12, 25, 54, 62)
                   for d in (-1, 1, 1 << max(e - 24, 0))]
    column = list(dict.fromkeys(column))
    rows = [("a", column)]
    for to in dtypes:
        rows.append(("cast:" + to, [cast(dt, to, decode(dt, v)) for v in column]))
    for to in dtypes:
        if bits_of_dtype(to) == bits_of_dtype(dt) and to != dt and "bool" not in (to, dt):
            rows.append(("bitcast:" + to, column))
    save("convert." + dt, 64, rows)


def main():
    os.makedirs(HERE, exist_ok=True)
    dtypes = ["bool"] + list(INTS) + list(FLOATS)
    for dt in dtypes:
        k = kind(dt)
        binary = dict(BINARY[k])
        if k == "int":
            binary.update(shl=i_shl(dt), shr=i_shr(dt))
        elementwise("unary", dt, UNARY[k], 1, 99, 200)
        elementwise("binary", dt, {**binary, **COMPARE}, 2, 19, 120)
        if k == "float":
            elementwise("pow", dt, {"pow": f_pow}, 2, 24, 120)
            elementwise("ternary", dt, {"mulacc": f_fma}, 3, 10, 240)
        elif k == "int":
            elementwise("ternary", dt, {"mulacc": lambda a, b, c: a * b + c}, 3, 6, 80)
        conversions(dt, dtypes)
        cases = tuples(dt, 2, 6, 20, "where")
        rng = random.Random("where?" + dt)
        which = [rng.randrange(2) for _ in cases]
        rows = [("a", which), ("b", [c[0] for c in cases]), ("c", [c[1] for c in cases])]
        rows.append(("where", [c[0] if w else c[1] for w, c in zip(which, cases)]))
        save("where." + dt, bits_of_dtype(dt), rows)
    elementwise("random", "u64", {"threefry": threefry}, 2, 8, 64)
    with open(os.path.join(HERE, "cases.txt"), "w") as f:
        f.write("\n".join(CASES) + "\n")


if __name__ == "__main__":
    main()
