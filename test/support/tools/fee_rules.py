"""Prints test/vectors/fee-rules.json: least fees, computed apart from the program, from docs/format.md (2.11, 3.2) and genesis.md.

    python3 test/support/tools/fee_rules.py > test/vectors/fee-rules.json
"""

import json

# In wire order.
ASSET = "b037db964a231458d2d6ffd5ea18944c4f90e63d547c5d3b9874df66a4ead0a3"
OWNER = "21" + "07" * 20
TXID = "09" * 32

OLD = {"minimum": "100", "perByte": "1"}
FREE = {"minimum": "100", "perByte": "0"}
NEW = {"minimum": "100", "perByte": "1", "freeBytes": 1024, "leaf": "1200"}


def varuint(value):
    if value < 0xFD:
        return value.to_bytes(1, "little").hex()
    if value <= 0xFFFF:
        return "fd" + value.to_bytes(2, "little").hex()
    return "fe" + value.to_bytes(4, "little").hex()


def le(value, size):
    return value.to_bytes(size, "little").hex()


def record(content, inputs=1, outputs=1, attributes=0):
    """The unsigned part of a record (type 3) with so many bytes of content, inputs, outputs of value 1, and attributes of 100 bytes."""
    parts = ["0300", "00" + varuint(content), "aa" * content, varuint(attributes), ("81" + varuint(100) + "cc" * 100) * attributes]
    parts.append(varuint(inputs))
    parts += [TXID + le(index, 2) + "ffffffff" for index in range(inputs)]
    parts.append(varuint(outputs))
    parts += [ASSET + le(1, 8) + le(0, 4) + OWNER] * outputs
    parts.append(le(0, 4))
    return "".join(parts)


def sized(size, **shape):
    content = 300
    while len(record(content, **shape)) // 2 != size:
        content += size - len(record(content, **shape)) // 2
    return record(content, **shape)


def least(fees, size, leaf=False):
    priced = max(0, size - fees.get("freeBytes", 0))
    return int(fees["minimum"]) + int(fees["perByte"]) * priced + (int(fees.get("leaf", "0")) if leaf else 0)


def transaction(about, fees, unsigned):
    size = len(unsigned) // 2
    return {"about": about, "fees": fees, "unsigned": unsigned, "size": size, "least": str(least(fees, size))}


def transactions():
    for size in (600, 1023, 1024, 1025, 1026, 2048):
        yield transaction(f"{size} bytes, 1024 of them free", NEW, sized(size))
    for fees, name in ((OLD, "no bytes are free"), (FREE, "bytes cost nothing")):
        for size in (1024, 1025):
            yield transaction(f"{size} bytes, {name}", fees, sized(size))
    for free in (0, 1, 999, 1000, 1001, 2**32 - 1):
        fees = {"minimum": "7", "perByte": "3", "freeBytes": free}
        yield transaction(f"1000 bytes at 3, {free} of them free", fees, sized(1000))
    yield transaction("free bytes where bytes cost nothing", {**FREE, "freeBytes": 10}, sized(1000))
    yield transaction("a price of leaves alone", {**FREE, "leaf": "5000"}, sized(1000))
    yield transaction("inputs count", NEW, record(1, inputs=30))
    yield transaction("outputs count", NEW, record(1, outputs=30))
    yield transaction("attributes count", NEW, record(1, attributes=12))


def operations():
    """Sequences of operations on one credential, by DIDs that exist; each is [what, who, whether it adds a leaf]."""
    yield "declared and revoked by the holder", [["declare", "holder", True], ["revoke", "holder", False]]
    yield "declared, revoked by issuer and holder", [["declare", "holder", True], ["revoke", "issuer", True], ["revoke", "holder", False]]
    yield "revoked, never declared", [["revoke", "holder", True], ["revoke", "issuer", True], ["revoke", "stranger", True]]
    yield "revoked by a stranger, then declared", [["revoke", "stranger", True], ["declare", "holder", True], ["revoke", "holder", False]]


def sequence(about, steps):
    size = 437
    return {
        "about": about,
        "steps": [{"operation": what, "by": who, "newLeaf": leaf, "least": str(least(NEW, size, leaf))} for what, who, leaf in steps],
        "size": size,
        "fees": NEW,
    }


print(
    json.dumps(
        {
            "about": "The least fee of transactions by the bytes of their unsigned part (hex), and of operations on credentials in sequences, "
            "as if each had the size of the sequence: a leaf is new where the DID has not said anything of the credential before.",
            "transactions": list(transactions()),
            "sequences": [sequence(*one) for one in operations()],
        },
        indent=1,
    )
)
