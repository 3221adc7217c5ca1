"""Prints test/vectors/side-chain-rules.json: proofs of side-chain work in blocks, signed and judged apart from the program, from
docs/format.md (3.2, 3.4) and genesis.md.

    python3 test/support/tools/side_chain_rules.py > test/vectors/side-chain-rules.json
"""

import hashlib
import json

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
VALIDATOR, STRANGER = 1, 2
LAST = 2**29 - 1

TOO_HIGH, SIGNER, PROVED = "tx-side-chain-height", "tx-side-chain-signer", "tx-side-chain-proved"


def sha(data):
    return hashlib.sha256(data).digest()


def add(p, q):
    if p is None or q is None:
        return p or q
    if p[0] == q[0]:
        if (p[1] + q[1]) % P == 0:
            return None
        slope = (3 * p[0] * p[0] - 3) * pow(2 * p[1], -1, P)
    else:
        slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, P)
    x = (slope * slope - p[0] - q[0]) % P
    return (x, (slope * (p[0] - x) - p[1]) % P)


def times(k, p):
    total = None
    while k:
        if k & 1:
            total = add(total, p)
        p, k = add(p, p), k >> 1
    return total


def public_key(key):
    x, y = times(key, G)
    return (b"\x03" if y & 1 else b"\x02") + x.to_bytes(32, "big")


def sign(message, key):
    """ECDSA over SHA-256 of the message; the nonce follows from both."""
    nonce = int.from_bytes(sha(key.to_bytes(32, "big") + message), "big") % (N - 1) + 1
    r = times(nonce, G)[0] % N
    s = (int.from_bytes(sha(message), "big") + r * key) * pow(nonce, -1, N) % N
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def genesis(name):
    return sha(b"genesis of " + name.encode())


def proof(name, height, key=VALIDATOR, block=None):
    """The payload of a transaction of type 5."""
    side_block = sha(f"block {height} of {name}, {block or 'the first one found'}".encode())
    signed = side_block + genesis(name) + height.to_bytes(4, "little")
    return {"chain": name, "height": height, "key": key, "payload": (signed + b"\x40" + sign(signed, key)).hex()}


def judge(state, block, order):
    """What a block comes to, and the heights after it. Bytes come first, then the state, signatures last."""
    if any(one["height"] >= 2**29 for one in block):
        return TOO_HIGH, state
    heights = dict(state)
    for one in block:
        if order and one["height"] <= heights.get(one["chain"], -1):
            return PROVED, state
        heights[one["chain"]] = max(one["height"], heights.get(one["chain"], -1))
    if any(one["key"] != VALIDATOR for one in block):
        return SIGNER, state
    return "ok", heights


def chain(about, order, steps):
    """`steps`: a list of proofs is a block, a number takes so many blocks back."""
    states, played = [{}], []
    for step in steps:
        if isinstance(step, int):
            states = states[:-step]
            played.append({"back": step})
        else:
            expected, state = judge(states[-1], step, order)
            if expected == "ok":
                states.append(state)
            played.append({"proofs": [one["payload"] for one in step], "expected": expected})
        played[-1]["proved"] = sorted([genesis(name).hex(), height] for name, height in states[-1].items())
    return {"about": about, "sideChainOrder": order, "steps": played}


def a(height, **more):
    return proof("a", height, **more)


def b(height, **more):
    return proof("b", height, **more)


STORIES = {
    "one proof a block": [[a(9)], [a(9)], [a(8)], [a(0)], [a(10)], [a(10)], [a(12)], [a(11)], []],
    "another block of the same height": [[a(9)], [a(9, block="a later one")], [a(10, block="a later one")]],
    "several in a block": [[a(1), a(2), a(4)], [a(5), a(5)], [a(6), a(5)], [a(5), a(4)], [a(5), a(6)]],
    "two side chains": [[a(5), b(3)], [b(5), a(5)], [b(4), a(6), b(5)], [a(7), b(5)], [b(6)]],
    "the first is of any height": [[a(0)], [b(LAST)], [a(0)], [b(LAST)], [b(0)], [a(1)]],
    "the last height there is": [[a(LAST + 1)], [a(LAST)], [a(LAST)], [a(LAST - 1)], [a(2**32 - 1)]],
    "signed by another": [[a(9, key=STRANGER)], [a(8)], [a(9, key=STRANGER)], [a(8, key=STRANGER)], [a(9)]],
    "taken back": [[a(5)], [a(7), b(1)], 1, [a(5)], [a(6)], [a(7)], 2, [a(7)], 2, [a(0)], [b(0), a(1)]],
    "refused as a whole": [[a(5)], [b(1), a(5)], [b(1)], [a(6), b(1)], [a(6)]],
}

chains = [chain(about, order, steps) for about, steps in STORIES.items() for order in (True, False)]

print(
    json.dumps(
        {
            "about": "Chains of one validator. Each step is a block whose transactions carry these payloads of type 5 (hex), with what the block "
            "comes to on top of those taken before, or takes blocks back; then the heights that are proved, by genesis hash in internal order.",
            "validator": public_key(VALIDATOR).hex(),
            "chains": chains,
        },
        indent=1,
    )
)
