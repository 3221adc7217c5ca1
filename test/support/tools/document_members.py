"""Prints test/vectors/document-members.json: documents with endpoints that are objects or lists, keys for encryption and other names, and
what becomes of them, worked out apart from the program from docs/format.md (9.3, 9.4).

    python3 test/support/tools/document_members.py > test/vectors/document-members.json
"""

import json
import re

# Of the private key 1, and its key; no secret.
DID = "did:ledger:iZvN3bxQWMzScK4WoTSmepJCfT6gZWr2KP"
KEY = "21tzoXVq7aGx61bNRTPDVn9hJhszdDA4CPcp9LYZL8ffT"
OTHER_KEY = "236h7pukvqi6u8ADu53erbWyLYXNyNEuB9BRNMXtVKUfZ"
OTHER_DID = "did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc"
DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
C = r"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
URI = re.compile(rf"^[A-Za-z][A-Za-z0-9+.-]*:(?=.)(?://(?:{C}*@)?\[[0-9A-Fa-fv:.]+\])?{C}*(?:#{C}*)?\Z")


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = DIGITS[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


def unbase58(text):
    number = 0
    for digit in text:
        number = number * 58 + DIGITS.index(digit)
    return number.to_bytes(33, "big")


def multikey(codec, key):
    return "z" + base58(bytes(codec) + bytes(key))


X25519 = multikey([0xEC, 0x01], range(1, 33))
P256 = multikey([0x80, 0x24], unbase58(OTHER_KEY))


def text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(members):
    """The text that the proof signs."""
    parts = [f'"id":"{DID}"']
    names = members.get("alsoKnownAs", [])
    if names:
        parts.append(f'"alsoKnownAs":{text(sorted(names))}')
    parts.append(
        f'"publicKey":[{{"id":"{DID}#primary","type":"ECDSAsecp256r1","controller":"{DID}","publicKeyBase58":"{KEY}"}}]'
    )
    parts.append(f'"authentication":["{DID}#primary"]')
    keys = sorted(members.get("keyAgreement", []), key=lambda key: key["id"])
    if keys:
        written = [
            f'{{"id":"{DID}{key["id"]}","type":"Multikey","controller":"{DID}","publicKeyMultibase":"{key["publicKeyMultibase"]}"}}'
            for key in keys
        ]
        parts.append(f'"keyAgreement":[{",".join(written)}]')
    services = sorted(members.get("service", []), key=lambda service: service["id"])
    if services:
        written = [
            f'{{"id":"{DID}{one["id"]}","type":{text(one["type"])},"serviceEndpoint":{text(one["serviceEndpoint"])}}}'
            for one in services
        ]
        parts.append(f'"service":[{",".join(written)}]')
    parts.append('"expires":"2030-01-01T00:00:00Z"')
    return "{" + ",".join(parts) + "}"


def case(about, members, code="", before="document-core"):
    """`code`: of the refusal, empty where it is taken; `before`: below the height at which the spec has didCore, of what is taken later."""
    document = {"id": DID, "publicKey": [{"id": "#primary", "publicKeyBase58": KEY}], **members}
    document["expires"] = "2030-01-01T00:00:00Z"
    document["proof"] = {"signatureValue": "A" * 86}
    made = {"about": about, "document": document, "before": code or before, "code": code}
    if not code:
        made["signingText"] = canonical(members)
    cases.append(made)


def endpoint(value):
    return {"service": [{"id": "#s", "type": "T", "serviceEndpoint": value}]}


def key(value, **more):
    return {"keyAgreement": [{"id": "#enc", "publicKeyMultibase": value, **more}]}


cases = []
form = "document-form"
case("a text", endpoint("https://a.example"), before="")
case("a text that is no URI", endpoint("nowhere"), before="")
case("an object", endpoint({"uri": "https://a.example", "accept": ["didcomm/v2"], "a": {"z": 1, "b": None}}))
case("a list keeps its order", endpoint(["https://b.example", {"b": 1, "a": True}, "https://a.example"]))
case("32 endpoints", endpoint([f"https://{i}.example" for i in range(32)]))
case("33 endpoints", endpoint([f"https://{i}.example" for i in range(33)]), form)
for about, value in (
    ("null", None),
    ("a number", 7),
    ("false", False),
    ("an object without members", {}),
    ("an empty list", []),
    ("a list in a list", [["a"]]),
    ("a number in a list", ["a", 1]),
    ("an empty object in a list", [{}]),
    ("a text twice", ["a", "a"]),
    ("an object twice, in another order", [{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
):
    case(f"an endpoint that is {about}", endpoint(value), form)
case("a key of X25519", key(X25519))
case("a key of P-256, with its defaults written", key(P256, type="Multikey", controller=DID))
case("two keys, sorted by id", {"keyAgreement": [{"id": "#z", "publicKeyMultibase": X25519}, {"id": "#a", "publicKeyMultibase": P256}]})
case("a key that signs", key(multikey([0x80, 0x24], unbase58(KEY))), "document-duplicate-key")
case("a key twice", {"keyAgreement": [{"id": "#a", "publicKeyMultibase": X25519}, {"id": "#b", "publicKeyMultibase": X25519}]}, "document-duplicate-key")
case("a key of Ed25519", key(multikey([0xED, 0x01], range(1, 33))), "document-key")
case("a key of X25519 of 31 bytes", key(multikey([0xEC, 0x01], range(1, 32))), "document-key")
case("a key of X25519 of 33 bytes", key(multikey([0xEC, 0x01], range(1, 34))), "document-key")
case("33 bytes that are no point", key(multikey([0x80, 0x24], [2] + [255] * 32)), "document-key")
case("a key in base64url", key("u" + X25519[1:]), "document-key")
case("a key with another controller", key(X25519, controller=OTHER_DID), "document-reference")
case("a key of another type", key(X25519, type="X25519KeyAgreementKey2020"), "document-form")
case("a key with a member more", key(X25519, use="enc"), "document-member")
case("a key with an id of another DID", key(X25519, id=f"{OTHER_DID}#enc"), "document-id")
case("a key with the id of another key", key(X25519, id="#primary"), "document-duplicate-id")
case("a reference to a key for encryption", {**key(P256), "authentication": ["#enc"]}, "document-reference")
case("other names, sorted", {"alsoKnownAs": ["urn:x:1", "did:example:ada", "https://a.example/b#c"]})
for name in (
    "a:b", "x:#", "urn:x:%7e", "mailto:ada@a.example", "https://[2001:db8::1]:80/a?b#c", "https://u@[::1]", "urn:" + "x" * 1020,
    "", "ada", "/ada", "https:", "1:a", "x:%7", "x:a b", "x:\"", "x:a#b#c", "x:[", "x:a[b]", "https://\u00fc.example", "urn:" + "x" * 1021,
):
    taken = URI.match(name) is not None and len(name) <= 1024
    case(f"another name: {name[:40]}", {"alsoKnownAs": [name]}, "" if taken else "document-text")
case("another name twice", {"alsoKnownAs": ["urn:x:1", "urn:x:1"]}, "document-duplicate-id")
case("another name that is a number", {"alsoKnownAs": [7]}, form)
case("other names that are no list", {"alsoKnownAs": "urn:x:1"}, form)
case("255 other names, 256 entries", {"alsoKnownAs": [f"urn:x:{i}" for i in range(255)]})
case("256 other names, 257 entries", {"alsoKnownAs": [f"urn:x:{i}" for i in range(256)]}, "document-entries")

about = "Documents in compact form with the members of docs/format.md 9.4: the text that the proof signs, or the code of the refusal; `before` is the code without didCore."
print(json.dumps({"about": about, "documents": cases}, indent=1, ensure_ascii=False))
