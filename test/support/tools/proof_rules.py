"""Prints test/vectors/proof-rules.json: rules of a chain that proofs need, computed apart from the program, from docs/format.md and genesis.md.

    python3 test/support/tools/proof_rules.py > test/vectors/proof-rules.json
"""

import hashlib
import json

# In wire order.
ASSET = "b037db964a231458d2d6ffd5ea18944c4f90e63d547c5d3b9874df66a4ead0a3"
OWNER = "21" + "07" * 20
LIMIT = 65536
# Multiples 1 to 3 of the generator of P-256, compressed.
KEYS = [
    "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
    "037cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978",
    "025ecbe4d1a6330a44c8f7ef951d4bf165e6c6b721efada985fb41661bc6e7fd6c",
]
FEES = {"minimum": "100", "perByte": "1"}


def sha(data):
    return hashlib.sha256(data).digest()


def varuint(value):
    if value < 0xFD:
        return value.to_bytes(1, "little").hex()
    assert value <= 0xFFFF
    return "fd" + value.to_bytes(2, "little").hex()


def le(value, size):
    return value.to_bytes(size, "little").hex()


def join(parts):
    return bytes.fromhex("".join(part if isinstance(part, str) else part["repeat"] * part["times"] for part in parts))


def coinbase(height, validators, did_root, payload=0, memos=0, zeros=0, version=0):
    """Parts of the unsigned part of a coinbase: of a payload, attributes of 1024 bytes, and outputs of value 0 that are so many."""
    entries = "01" + "00" * 32
    if did_root:
        entries += "02" + "dd" * 32
    if validators:
        entries += "03" + sha(bytes.fromhex(KEYS[0])).hex()
    commitment = "4c444731" + entries
    output = ASSET + le(0, 8) + le(0, 4) + OWNER + ("00" if version == 9 else "")
    first = ASSET + le(5, 8) + le(0, 4) + OWNER + ("00" if version == 9 else "")
    return [
        ("09" if version == 9 else "") + "0004" + varuint(payload),
        {"repeat": "aa", "times": payload},
        varuint(memos + 1),
        {"repeat": "81" + varuint(1024) + "00" * 1024, "times": memos},
        "81" + varuint(len(commitment) // 2) + commitment,
        "01" + "00" * 32 + "ffff" + "ffffffff",
        varuint(zeros + 1) + first,
        {"repeat": output, "times": zeros},
        le(height, 4),
    ]


def sized(size, height, validators, did_root, **shape):
    """The same with the payload that makes it have `size` bytes."""
    payload = 300 + size - len(join(coinbase(height, validators, did_root, payload=300, **shape)))
    return coinbase(height, validators, did_root, payload=payload, **shape)


def case(about, validators, did_root_from, height, parts, expected):
    unsigned = join(parts)
    return {
        "about": about,
        "validators": validators,
        "didRootFrom": did_root_from,
        "height": height,
        "unsigned": [part for part in parts if isinstance(part, str) or part["times"] > 0],
        "size": len(unsigned),
        "txid": sha(sha(unsigned))[::-1].hex(),
        "expected": expected,
    }


def coinbases():
    large = "coinbase-too-large"
    for validators, did_root_from in ((True, 1), (False, 1), (True, None)):
        chain = ("with" if validators else "without") + " validators, " + ("with" if did_root_from else "without") + " a map"
        for size, expected in ((LIMIT, "ok"), (LIMIT + 1, large)):
            parts = sized(size, 7, validators, did_root_from is not None)
            yield case(f"{size} bytes of a chain {chain}", validators, did_root_from, 7, parts, expected)
    yield case("the map begins at the next block", False, 8, 7, sized(LIMIT + 1, 7, False, False), "ok")
    yield case("the map begins at this block", False, 7, 7, sized(LIMIT + 1, 7, False, True), large)
    yield case("neither validators nor a map", False, None, 7, sized(LIMIT + 1, 7, False, False), "ok")
    for version, size in ((0, 65), (9, 66)):
        room = (LIMIT - len(join(coinbase(7, True, True, version=version))) - 2) // size
        for zeros, expected in ((room, "ok"), (room + 1, large), (1024, large)):
            parts = coinbase(7, True, True, zeros=zeros, version=version)
            yield case(f"{zeros} outputs of 0, version {version}", True, 1, 7, parts, expected)
    yield case("sixteen attributes", True, 1, 7, sized(LIMIT, 7, True, True, memos=15), "ok")
    yield case("sixteen attributes, a byte more", True, 1, 7, sized(LIMIT + 1, 7, True, True, memos=15), large)


def rules_at(upgrades, height):
    rules = {"validators": KEYS[:1], "fees": FEES, "didRoot": False}
    for entry in upgrades:
        if entry["height"] <= height:
            rules.update(entry["parameters"])
    return rules


def digest(upgrades, height):
    entries = [entry for entry in upgrades if entry["height"] <= height]
    return sha(json.dumps(entries, sort_keys=True, separators=(",", ":")).encode()).hex()


def spec(about, upgrades):
    heights = range(12)
    keys_hashes = [sha(bytes.fromhex("".join(rules_at(upgrades, height)["validators"]))).hex() for height in heights]
    return {
        "about": about,
        "upgrades": upgrades,
        "changes": [height for height in heights if height > 1 and keys_hashes[height] != keys_hashes[height - 1]],
        "heights": [
            {
                "keysHash": keys_hashes[height],
                "perByte": rules_at(upgrades, height)["fees"]["perByte"],
                "didRoot": rules_at(upgrades, height)["didRoot"],
                "upgradesDigest": digest(upgrades, height),
            }
            for height in heights
        ],
    }


def specs():
    def entry(height, name, **parameters):
        return {"height": height, "name": name, "parameters": parameters}

    fees = {"minimum": "7", "perByte": "3"}
    two, three = KEYS[:2], KEYS
    yield spec("fees and validators at one height", [entry(4, "a", fees=fees), entry(4, "b", validators=two)])
    yield spec("validators and fees at one height", [entry(4, "a", validators=two), entry(4, "b", fees=fees)])
    yield spec("two lists at one height: the later one", [entry(4, "a", validators=two), entry(4, "b", validators=three)])
    yield spec("a list that is taken back at its height", [entry(4, "a", validators=two), entry(4, "b", validators=KEYS[:1])])
    yield spec("none for a moment", [entry(4, "a", validators=[]), entry(4, "b", validators=two)])
    yield spec("the list that is in force", [entry(4, "a", validators=two), entry(6, "b", validators=two), entry(6, "c")])
    yield spec("at the first block", [entry(1, "a", validators=two), entry(1, "b", didRoot=True), entry(1, "c", fees=fees)])
    yield spec(
        "meeting twice",
        [
            entry(3, "a", didRoot=True),
            entry(3, "b", validators=three),
            entry(9, "c", validators=two),
            entry(9, "d", fees=fees),
            entry(9, "e", validators=three[::-1]),
        ],
    )


print(
    json.dumps(
        {
            "about": "Coinbases by the bytes of their unsigned part (hex, or hex that is repeated), with sha256d of it reversed, and what a block "
            "at that height of a chain comes to with it alone; then chain specs whose upgrades meet at heights, with the rules of heights 0 to 11.",
            "key": KEYS[0],
            "coinbases": list(coinbases()),
            "specs": list(specs()),
        },
        indent=1,
    )
)
