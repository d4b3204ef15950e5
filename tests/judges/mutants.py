"""Damage, for the judges of media."""


def mutant(rng, data, others, head, in_head, kinds):
    """Returns `data` with some bytes changed, cut off, with a piece doubled, removed or put on, or with the end of one
    of `others`.

    Of the changed bytes the share `in_head` is among the first `head`, where headers are. `kinds` are the borders
    between the kinds of damage, in the order above, in a range from 0 to 1.
    """
    changed, cut, doubled, removed, put_on = kinds
    data = bytearray(data)
    kind = rng.random()
    if kind < changed:
        for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
            at = rng.randrange(min(len(data), head) if rng.random() < in_head else len(data))
            data[at] = rng.choice([0, 1, 0xFF, data[at] ^ 1 << rng.randrange(8), rng.randrange(256)])
    elif kind < cut:
        del data[rng.randrange(len(data)) :]
    elif kind < doubled:
        at, size = rng.randrange(len(data)), rng.randrange(1, 32)
        data[at:at] = data[at : at + size]
    elif kind < removed:
        at = rng.randrange(len(data))
        del data[at : at + rng.randrange(1, 32)]
    elif kind < put_on:
        data += rng.randbytes(rng.randrange(1, 64))
    else:
        other = rng.choice(others)
        at = rng.randrange(min(len(data), len(other)))
        data = data[:at] + other[at:]
    return bytes(data)
