"""A verifier of answers about DIDs, written apart from the one in TypeScript, from the standard library alone.

Reads a line of JSON for each answer: {genesis, teams: [[height, [key hex]]], question, answer, now}; all hashes in internal order. Writes a
line for each: the name of the failure, or "ok STATUS COUNT".
"""

import base64
import hashlib
import json
import re
import sys
from datetime import datetime, timezone

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


class Refused(Exception):
    pass


def need(condition, failure):
    if not condition:
        raise Refused(failure)


# --- P-256 ---------------------------------------------------------------------------------------------------------------------------


def double(p):
    x, y, z = p
    if y == 0 or z == 0:
        return (0, 1, 0)
    s = 4 * x * y * y % P
    m = 3 * (x - z * z) * (x + z * z) % P
    nx = (m * m - 2 * s) % P
    return (nx, (m * (s - nx) - 8 * pow(y, 4, P)) % P, 2 * y * z % P)


def add(p, q):
    if p[2] == 0:
        return q
    if q[2] == 0:
        return p
    z1, z2 = p[2] * p[2] % P, q[2] * q[2] % P
    u1, u2 = p[0] * z2 % P, q[0] * z1 % P
    s1, s2 = p[1] * z2 * q[2] % P, q[1] * z1 * p[2] % P
    if u1 == u2:
        return double(p) if s1 == s2 else (0, 1, 0)
    h, r = (u2 - u1) % P, (s2 - s1) % P
    h2 = h * h % P
    h3, v = h * h2 % P, u1 * h2 % P
    x = (r * r - h3 - 2 * v) % P
    return (x, (r * (v - x) - s1 * h3) % P, h * p[2] * q[2] % P)


def point_of(key):
    if len(key) != 33 or key[0] not in (2, 3):
        return None
    x = int.from_bytes(key[1:], "big")
    if x >= P:
        return None
    square = (x * x * x - 3 * x + B) % P
    y = pow(square, (P + 1) // 4, P)
    if y * y % P != square:
        return None
    return (x, y if y % 2 == key[0] % 2 else P - y)


known = {}


def verifies(key, message, signature):
    question = (key, message, signature)
    if question not in known:
        known[question] = verify(key, message, signature)
    return known[question]


def verify(key, message, signature):
    point = point_of(key)
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if point is None or not (0 < r < N and 0 < s < N):
        return False
    w = pow(s, -1, N)
    u1 = int.from_bytes(hashlib.sha256(message).digest(), "big") * w % N
    u2 = r * w % N
    g, q = (*G, 1), (*point, 1)
    both, total = add(g, q), (0, 1, 0)
    for bit in range(255, -1, -1):
        total = double(total)
        which = (u1 >> bit & 1, u2 >> bit & 1)
        if which != (0, 0):
            total = add(total, {(1, 0): g, (0, 1): q, (1, 1): both}[which])
    if total[2] == 0:
        return False
    return total[0] * pow(total[2], -2, P) % P % N == r


# --- bytes ---------------------------------------------------------------------------------------------------------------------------


def sha(data):
    return hashlib.sha256(data).digest()


def shad(data):
    return sha(sha(data))


def unbase64(text):
    """The bytes of base64url without padding whose unused bits are zero; None for other text, and for none."""
    if not re.fullmatch("[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text else None


def u32(data, at=0):
    return int.from_bytes(data[at : at + 4], "little")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def as_object(value):
    need(isinstance(value, dict), "form")
    return value


def as_text(value):
    need(isinstance(value, str), "form")
    return value


def as_number(value):
    need(is_number(value), "form")
    return value


def as_hex(value):
    need(re.fullmatch("[0-9a-f]{64}", as_text(value)), "form")
    return bytes.fromhex(value)


def as_base64(value):
    data = b"" if as_text(value) == "" else unbase64(value)
    need(data is not None, "form")
    return data


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        need(self.at + count <= len(self.data), "anchor-coinbase")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varuint(self):
        first = self.number(1)
        size, least = {253: (2, 253), 254: (4, 2**16), 255: (8, 2**32)}.get(first, (0, 0))
        value = self.number(size) if size else first
        need(value >= least, "anchor-coinbase")
        return value


# --- the anchor ----------------------------------------------------------------------------------------------------------------------


def coinbase_attributes(data, height):
    cursor = Cursor(data)
    wrong = "anchor-coinbase"
    need(len(data) <= 64 * 1024 and len(data) != 64, wrong)
    first = cursor.number(1)
    need((cursor.number(1) if first == 9 else first) == 0, wrong)
    need(cursor.number(1) == 4, wrong)
    cursor.take(cursor.varuint())
    attributes = []
    for _ in range(cursor.varuint()):
        usage = cursor.number(1)
        need(usage in (0x00, 0x20, 0x81, 0x90, 0x91, 0x92), wrong)
        attributes.append((usage, cursor.take(cursor.varuint())))
    need(cursor.varuint() == 1, wrong)
    need(cursor.take(38) == bytes(32) + b"\xff" * 6, wrong)
    for _ in range(cursor.varuint()):
        cursor.take(65)
        need(first != 9 or cursor.number(1) == 0, wrong)
    need(cursor.number(4) == height and cursor.at == len(data), wrong)
    return attributes


def commitments_of(attributes):
    found = [data[4:] for usage, data in attributes if usage == 0x81 and data[:4] == b"LDG1"]
    need(len(found) == 1 and len(found[0]) == 99, "anchor-commitment")
    entries = [found[0][at : at + 33] for at in (0, 33, 66)]
    need([entry[0] for entry in entries] == [1, 2, 3], "anchor-commitment")
    return entries[1][1:], entries[2][1:]


def check_confirm(data, header, keys):
    height, count = u32(header, 80), len(keys)
    bitmap_size = (count + 7) // 8
    need(len(data) >= 68 + bitmap_size, "confirm-form")
    bitmap = data[68 : 68 + bitmap_size]
    voters = [i for i in range(8 * bitmap_size) if bitmap[i // 8] >> (7 - i % 8) & 1]
    need(not voters or voters[-1] < count, "confirm-form")
    need(len(data) == 68 + bitmap_size + 64 * len(voters), "confirm-form")
    need(len(voters) >= 2 * count // 3 + 1, "confirm-quorum")
    sponsor = keys[(height + u32(data)) % count]
    proposal = b"\x21" + sponsor + shad(header) + data[:4]
    signed = [(sponsor, proposal, data[4:68])]
    for place, voter in enumerate(voters):
        at = 68 + bitmap_size + 64 * place
        vote = shad(proposal) + b"\x21" + keys[voter] + b"\x01"
        signed.append((keys[voter], vote, data[at : at + 64]))
    need(all(verifies(*one) for one in signed), "confirm-signature")


def check_anchor(anchor, genesis, teams):
    header, coinbase, branch, confirm, root = anchor
    need(len(header) == 84 and u32(header, 80) > 0, "anchor-header")
    height = u32(header, 80)
    attributes = coinbase_attributes(coinbase, height)
    need(len(branch) % 32 == 0 and len(branch) <= 14 * 32, "anchor-branch")
    node = shad(coinbase)
    for at in range(0, len(branch), 32):
        node = shad(node + branch[at : at + 32])
    need(node == header[36:68], "anchor-branch")
    did_root, next_keys = commitments_of(attributes)

    def keys_at(at):
        return [keys for since, keys in teams if since <= at][-1]

    check_confirm(confirm, header, keys_at(height))
    need(sha(b"".join(keys_at(height + 1))) == next_keys, "changes-missing")
    need(root is None or sha(b"\x02" + genesis + root) == did_root, "anchor-root")
    return did_root, height, u32(header, 68)


# --- the map -------------------------------------------------------------------------------------------------------------------------


def bit(key, depth):
    return key[depth // 8] >> (7 - depth % 8) & 1


def read_way(depth, path):
    need(depth == int(depth) and 0 <= depth <= 256, "path-form")
    depth = int(depth)
    data = b"" if path == "" else unbase64(path)
    size = (depth + 7) // 8
    need(data is not None and len(data) >= size, "path-form")
    bits = [data[i // 8] >> (7 - i % 8) & 1 for i in range(8 * size)]
    need(not any(bits[depth:]), "path-form")
    need(len(data) == size + 32 * sum(bits), "path-form")
    need(depth == 0 or bits[depth - 1] == 1, "path-form")
    siblings, at = [], size
    for one in bits[:depth]:
        siblings.append(data[at : at + 32] if one else bytes(32))
        at += 32 * one
        need(not one or siblings[-1] != bytes(32), "path-form")
    return siblings


def read_history(state, count, entries, base):
    wrong = "history-form"
    need(state in (1, 2), wrong)
    need(count == int(count) and 1 <= count < 2**32, wrong)
    data = unbase64(entries)
    need(data is not None and len(data) % 73 == 0, wrong)
    parts = [data[at : at + 73] for at in range(0, len(data), 73)]
    need(len(parts) <= count, wrong)
    need(base is None or re.fullmatch("[0-9a-f]{64}", base), wrong)
    need((base is not None) == (len(parts) < count), wrong)
    return int(count), parts, bytes.fromhex(base or "00" * 32)


def check_map(sent, key, genesis, did_root, height, time):
    fields = as_object(sent)
    history = as_object(fields["history"]) if "history" in fields else None
    depth, path = as_number(fields.get("depth")), as_text(fields.get("path"))
    leaf = as_text(fields["leaf"]) if "leaf" in fields else None
    if history is not None:
        state, count = as_number(history.get("state")), as_number(history.get("count"))
        entries = as_text(history.get("entries"))
        base = as_text(history["base"]) if "base" in history else None
    siblings = read_way(depth, path)
    need(leaf is None or history is None, "path-form")
    node = bytes(32)
    if leaf is not None:
        data = unbase64(leaf)
        need(data is not None and len(data) == 64, "path-form")
        need(data[:32] != key, "path-foreign")
        need(all(bit(data, i) == bit(key, i) for i in range(len(siblings))), "path-foreign")
        node = sha(b"\x00" + data)
    if history is not None:
        count, parts, digest = read_history(state, count, entries, base)
        for part in parts:
            digest = sha(digest + part)
        value = sha(bytes([int(state)]) + count.to_bytes(4, "little") + digest)
        node = sha(b"\x00" + key + value)
    for i in range(len(siblings) - 1, -1, -1):
        node = sha(b"\x01" + (siblings[i] + node if bit(key, i) else node + siblings[i]))
    need(sha(b"\x02" + genesis + node) == did_root, "path-root")
    if history is None:
        return None
    check_order(int(state), count, parts, height, time)
    return int(state), count, parts


def check_order(state, count, parts, height, time):
    wrong = "history-order"
    need((parts[-1][0] in (3, 5)) == (state == 2), wrong)
    for i, part in enumerate(parts):
        is_first, is_last = count - len(parts) + i == 0, i == len(parts) - 1
        need(part[0] == (1 if is_first else 3 if is_last and state == 2 else 2), wrong)
        need(u32(part, 1) <= height and u32(part, 5) <= time, wrong)
        if i > 0:
            need(u32(part, 1) >= u32(parts[i - 1], 1) and u32(part, 5) >= u32(parts[i - 1], 5), wrong)


# --- the answer ----------------------------------------------------------------------------------------------------------------------

names = {"create": 1, "update": 2, "deactivate": 3, "declare": 4, "revoke": 5}


def date_text(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def date_of(text):
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp())


def txid_of(part):
    return part[9:41][::-1].hex()


def read_transaction(sent):
    fields = as_object(sent)
    operation = as_object(fields.get("operation"))
    header, proof = as_object(operation.get("header")), as_object(operation.get("proof"))
    for holder, name in ((header, "previousTxid"), (proof, "type")):
        if name in holder:
            as_text(holder[name])
    for value in (header.get("specification"), proof.get("verificationMethod"), proof.get("signature")):
        as_text(value)
    return {
        "txid": as_text(fields.get("txid")),
        "timestamp": as_text(fields.get("timestamp")),
        "name": as_text(header.get("operation")),
        "previous": header.get("previousTxid"),
        "payload": as_text(operation.get("payload")),
    }


def read_answer(sent, did, genesis):
    fields = as_object(sent)
    need("proof" in fields, "proof-missing")
    about = as_text(fields.get("did"))
    status = as_number(fields.get("status"))
    need(status in (0, 1, 2, 3), "form")
    transactions = fields.get("transaction", [])
    need(isinstance(transactions, list), "form")
    transactions = [read_transaction(one) for one in transactions]
    proof = as_object(fields["proof"])
    need(proof.get("format") == "didledger/proof/1", "form")
    chain = as_hex(proof.get("chain"))[::-1]
    anchor = as_object(proof.get("anchor"))
    parts = [as_base64(anchor.get(name)) for name in ("header", "coinbase", "branch", "confirm")]
    root = as_hex(anchor["root"]) if "root" in anchor else None
    maps = proof.get("maps")
    need(isinstance(maps, list) and len(maps) <= 3, "form")
    need(about == did, "answer-did")
    need(chain == genesis, "chain")
    return int(status), transactions, (*parts, root), maps


def version_in(parts, question):
    if "versionId" in question:
        return next((i for i, part in enumerate(parts) if txid_of(part) == question["versionId"]), -1)
    latest = date_of(question["versionTime"])
    return max((i for i, part in enumerate(parts) if u32(part, 5) <= latest), default=-1)


def places_of(transactions, history, question):
    """The place of the entry of each transaction."""
    given = len(transactions)
    if history is None:
        need(given == 0, "answer-incomplete")
        return []
    _, count, parts = history
    if question.get("all"):
        need(len(parts) == count == given, "answer-incomplete")
        return [count - 1 - i for i in range(count)]
    if "versionId" not in question and "versionTime" not in question:
        need(given == 1, "answer-incomplete")
        return [len(parts) - 1]
    need(given <= 1, "answer-incomplete")
    if given == 0:
        need(len(parts) == count and version_in(parts, question) < 0, "answer-incomplete")
        return []
    found = [i for i, part in enumerate(parts) if txid_of(part) == transactions[0]["txid"]]
    need(found, "answer-transaction")
    return found[:1]


def check_transaction(one, part, before):
    wrong = "answer-transaction"
    need(one["txid"] == txid_of(part), wrong)
    need(one["timestamp"] == date_text(u32(part, 5)), wrong)
    need(names.get(one["name"]) == part[0], wrong)
    need(sha(one["payload"].encode()) == part[41:], wrong)
    need((one["previous"] is not None) == (part[0] == 2), wrong)
    need(before is None or part[0] != 2 or one["previous"] == txid_of(before), wrong)


base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def unbase58(text, size):
    number = 0
    for character in text:
        number = number * 58 + base58.index(character)
    return number.to_bytes(size, "big")


def identifier_of(key):
    script = b"\x21" + key + b"\xad"
    body = b"\x67" + hashlib.new("ripemd160", sha(script)).digest()
    number = int.from_bytes(body + shad(body)[:4], "big")
    text = ""
    while number > 0:
        number, digit = divmod(number, 58)
        text = base58[digit] + text
    return text


def absolute(did, reference):
    return did + reference if reference.startswith("#") else reference


def signed_text(document):
    """The canonical text of a document with keys, their references, services and expiry alone."""
    did = document["id"]
    keys = sorted(
        ({**key, "id": absolute(did, key["id"]), "controller": key.get("controller", did)} for key in document["publicKey"]),
        key=lambda key: key["id"],
    )
    references = {absolute(did, one) for one in document.get("authentication", [])}
    references |= {key["id"] for key in keys if did.endswith(identifier_of(unbase58(key["publicKeyBase58"], 33)))}
    members = {"id": did, "publicKey": []}
    for key in keys:
        members["publicKey"].append(
            {
                "id": key["id"],
                "type": "ECDSAsecp256r1",
                "controller": key["controller"],
                "publicKeyBase58": key["publicKeyBase58"],
            }
        )
    members["authentication"] = sorted(references)
    services = sorted(
        ({**one, "id": absolute(did, one["id"])} for one in document.get("service", [])), key=lambda one: one["id"]
    )
    if services:
        members["service"] = [{name: one[name] for name in ("id", "type", "serviceEndpoint")} for one in services]
    members["expires"] = document["expires"]
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"))


def check_document(one, did):
    wrong = "answer-document"
    if one["name"] == "deactivate":
        need(one["payload"] == did, wrong)
        return None
    data = unbase64(one["payload"])
    need(data is not None, wrong)
    document = json.loads(data)
    need(document["id"] == did, wrong)
    keys = [unbase58(key["publicKeyBase58"], 33) for key in document["publicKey"]]
    own = [key for key in keys if did == "did:ledger:" + identifier_of(key)]
    need(own, wrong)
    signature = unbase64(document["proof"]["signatureValue"])
    need(verifies(own[0], signed_text(document).encode(), signature), wrong)
    return document


def check(line):
    genesis = bytes.fromhex(line["genesis"])
    teams = [(height, [bytes.fromhex(key) for key in keys]) for height, keys in line["teams"]]
    question, now = line["question"], line["now"]
    did = question["did"]
    status, transactions, anchor, maps = read_answer(line["answer"], did, genesis)
    did_root, height, time = check_anchor(anchor, genesis, teams)
    need(len(maps) == 1, "answer-incomplete")
    history = check_map(maps[0], sha(b"did\x00" + did.encode()), genesis, did_root, height, time)
    places = places_of(transactions, history, question)
    parts = history[2] if history else []
    for one, place in zip(transactions, places):
        check_transaction(one, parts[place], parts[place - 1] if place > 0 else None)
    documents = [check_document(one, did) for one in transactions]
    if history is None:
        need(status == 3, "answer-status")
    elif history[0] == 2:
        need(status == 2, "answer-status")
    elif len(parts) - 1 in places:
        expires = date_of(documents[places.index(len(parts) - 1)]["expires"])
        need(status == (1 if expires <= max(now, time) else 0), "answer-status")
    else:
        need(status < 2, "answer-status")
    is_version = not question.get("all") and ("versionId" in question or "versionTime" in question)
    if is_version and history and places:
        need(version_in(parts, question) == places[0], "answer-version")
    return f"ok {status} {history[1] if history else 0}"


for text in sys.stdin:
    try:
        print(check(json.loads(text)))
    except Refused as refusal:
        print(refusal)
