"""Prints a large or odd kernel: large.py KIND [SIZE]."""
import sys


def columns(size):
    yield f'  buffer b : hbm f32[64, {size}]'
    for i in range(size):
        yield f'  x{i}: e{i % 8}.op b[:, {i}]'


def hulls(size):
    yield '  buffer b : hbm f32[100000]'
    for i in range(size):
        yield f'  loop i < 50000 {{ x{i}: e{i % 8}.op b[i + {i}] }}'


def pieces(size):
    yield f'  buffer b : hbm f32[{size}]'
    for i in range(size):
        yield f'  r{i}: e{i % 8}.op <- b'
        yield f'  w{i}: e{(3 * i + 1) % 8}.op b[{i}]'


def shared(size):
    yield '  buffer b : hbm f32[1000]'
    yield '  loop i0 < 3 {'
    for i in range(1, size):
        yield f'  loop i{i} in (i{i - 1} % 7 + i{i - 1} / 7)..50 {{'
    yield f'  a: e0.op b[i{size - 1}]'
    yield f'  c: e1.op <- b[i{size - 1}]'
    yield '}' * size


def across(_):
    yield '  buffer b : hbm f32[2, 2000000000000]'
    yield '  loop i < 4 {'
    yield '    loop j < 1000000000000 {'
    yield '      a: e0.op b[i % 2, j]'
    yield '      c: e1.op <- b[i % 2, 999999999999 - j]'
    yield '    }'
    yield '  }'


def far(_):
    yield '  buffer b : hbm f32[2000000000000]'
    yield '  loop i < 1000000 {'
    yield '    a: e0.op b[i]'
    yield '    c: e1.op <- b[i + 500000]'
    yield '  }'


KINDS = {make.__name__: make for make in (columns, hulls, pieces, shared, across, far)}
kind, size = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
print(f'kernel {kind} target generic {{')
print('\n'.join(KINDS[kind](size)))
print('}')
