import { decodeBase64url } from '../did/base64url.js'
import { concat, displayHash, equalBytes, fromHex, fromUtf8, toBase64, toHex } from '../../base/primitives/bytes.js'
import { type Hash, sha256 } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { fail } from './proof-failure.js'
import { list, text } from './read-json.js'
import { type Checking, requireSignatures, type SignatureDue } from './signature-checks.js'

/**
 * Heads of a chain as witnesses sign them: a checkpoint of C2SP tlog-checkpoint, signed by cosignature/v1 of C2SP tlog-cosignature, in the
 * form of C2SP signed-note. Layouts and vectors: docs/format.md.
 */

/** Type of signature that a key ID and a key's text name: timestamped cosignatures of Ed25519. */
const cosignatureType = 4
const publicKeySize = 32
const keyIdSize = 4
const signatureSize = 64
/** Key ID, time, signature. */
const cosignatureSize = keyIdSize + 8 + signatureSize

/** @limit count: cosignatures of one head; the least maximum of C2SP */
export const maxCosignatures = 16
/** @limit characters: name of a witness */
export const maxWitnessName = 100
/** @limit characters: the text of a cosigned head */
export const maxNote = 8192

/** The head of a chain: the block that a cosignature is about, and what its coinbase commits to. */
export interface ChainHead {
  /** Hash of the genesis block, internal order. */
  readonly genesis: Hash
  readonly height: number
  /** Entry 02 of the coinbase: all DIDs after the block, and the genesis hash. */
  readonly didRoot: Hash
  /** Hash of the header, internal order. */
  readonly hash: Hash
}

/** Public key of a witness, with the name that its owner chose. */
export interface WitnessKey {
  readonly name: string
  /** First 4 bytes of a hash over name, type and key: finds the key, and proves nothing. */
  readonly id: Uint8Array
  /** 32 bytes. */
  readonly publicKey: Uint8Array
}

/** One cosignature as it was sent. */
export interface Cosignature {
  readonly name: string
  readonly id: Uint8Array
  /** Unix seconds at which it was made. */
  readonly time: number
  readonly signature: Uint8Array
}

/** A cosigned head as it was sent; nothing of it is checked. */
export interface SignedNote extends Omit<ChainHead, 'genesis'> {
  readonly origin: string
  /** Without their line ends. */
  readonly lines: readonly string[]
}

/** The name of a chain in notes. */
export function originOf(genesis: Hash): string {
  return `didledger/${displayHash(genesis).slice(0, 16)}`
}

/** The signed text of a head: origin, height, root, and the hash of the block as an extension line. */
export function noteBody({ genesis, height, didRoot, hash }: ChainHead): string {
  return `${originOf(genesis)}\n${height}\n${toBase64(didRoot)}\n${toBase64(hash)}\n`
}

/** A head with its cosignatures as one text. */
export function noteText(head: ChainHead, lines: readonly string[]): string {
  return `${noteBody(head)}\n${lines.map((line) => `${line}\n`).join('')}`
}

/** Reads the text of a cosigned head; `form`. */
export function readNote(sent: unknown): SignedNote {
  const note = text(sent)
  if (note.length > maxNote) fail('form', `a note of ${note.length} characters`)
  const [origin = '', size = '', root = '', block = '', blank, ...rest] = note.split('\n')
  const [didRoot, hash] = [fromBase64(root), fromBase64(block)]
  const isWhole = blank === '' && rest.length > 1 && rest.at(-1) === ''
  const height = /^[1-9]\d{0,9}$/.test(size) ? Number(size) : Infinity
  if (!isWhole || height > 0xffffffff || didRoot?.length !== 32 || hash?.length !== 32) {
    return fail('form', 'a text is no cosigned head of a chain')
  }
  const lines = list(rest.slice(0, -1), maxCosignatures) as readonly string[]
  return { origin, height, didRoot, hash, lines }
}

/** Whether a note is about this head and no other. */
export function isAbout(note: SignedNote, head: ChainHead): boolean {
  const { origin, height, didRoot, hash } = note
  const isSameBlock = height === head.height && equalBytes(hash, head.hash)
  return isSameBlock && origin === originOf(head.genesis) && equalBytes(didRoot, head.didRoot)
}

/** The key of a name and 32 bytes; `form` for a name that C2SP does not allow. */
export function witnessKey(name: string, publicKey: Uint8Array): WitnessKey {
  // Control characters would end the line of a note.
  const isName = name !== '' && name.length <= maxWitnessName && !/[\s+\p{C}]/u.test(name)
  if (!isName) fail('form', `a name of a witness has 1 to ${maxWitnessName} characters, and neither spaces nor +`)
  const typed = concat(Uint8Array.of(cosignatureType), publicKey)
  return { name, id: sha256(concat(fromUtf8(`${name}\n`), typed)).subarray(0, keyIdSize), publicKey }
}

/** The public key as C2SP writes it: name, key ID and key. */
export function verifierKeyText({ name, id, publicKey }: WitnessKey): string {
  return `${name}+${toHex(id)}+${toBase64(concat(Uint8Array.of(cosignatureType), publicKey))}`
}

/** Reads a public key as C2SP writes it; `form`. */
export function readVerifierKey(sent: unknown): WitnessKey {
  const value = text(sent)
  if (value.length > 2 * maxWitnessName) fail('form', 'the key of a witness is too long')
  return readKey(value.split('+'), 'a verifier key of C2SP')
}

/** Reads `name+id+base64` whose last part is a type and 32 bytes; base64 may have a plus itself. */
function readKey([name = '', id = '', ...rest]: readonly string[], what: string): WitnessKey {
  const bytes = fromBase64(rest.join('+'))
  if (bytes?.length !== 1 + publicKeySize || !/^[0-9a-f]{8}$/.test(id)) return fail('form', `a text is no ${what}`)
  if (bytes[0] !== cosignatureType) {
    return fail('form', `the key is of type ${bytes[0]}, not of type ${cosignatureType}, timestamped Ed25519`)
  }
  const key = witnessKey(name, bytes.subarray(1))
  return equalBytes(key.id, fromHex(id) as Uint8Array) ? key : fail('form', 'the key ID is not that of name and key')
}

/** The private key as C2SP tools write it. */
export function signerKeyText({ name, id }: WitnessKey, seed: Uint8Array): string {
  return `PRIVATE+KEY+${name}+${toHex(id)}+${toBase64(concat(Uint8Array.of(cosignatureType), seed))}`
}

/** Name and seed in the text of a private key; undefined for any other text, of which no message may show a part. */
export function readSignerKey(
  sent: string,
): { readonly name: string; readonly id: string; readonly seed: Uint8Array } | undefined {
  const [, name, id, key] = /^PRIVATE\+KEY\+([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(sent.trim()) ?? []
  const bytes = key === undefined ? undefined : fromBase64(key)
  if (name === undefined || id === undefined || bytes?.length !== 1 + publicKeySize) return undefined
  return bytes[0] === cosignatureType ? { name, id, seed: bytes.subarray(1) } : undefined
}

/** Bytes that a witness signs: type and time, then the text of the head. */
export function cosignedMessage(head: ChainHead, time: number): Uint8Array {
  return fromUtf8(`cosignature/v1\ntime ${time}\n${noteBody(head)}`)
}

/** The line of a cosignature, without its end. */
export function cosignatureLine({ name, id }: WitnessKey, time: number, signature: Uint8Array): string {
  const stamp = new Uint8Array(8)
  new DataView(stamp.buffer).setBigUint64(0, BigInt(time))
  return `\u2014 ${name} ${toBase64(concat(id, stamp, signature))}`
}

/** Reads the line of a cosignature; undefined for any other text, such as a signature of another type. */
export function readCosignature(line: unknown): Cosignature | undefined {
  if (typeof line !== 'string' || line.length > 2 * maxWitnessName) return undefined
  const [, name, encoded] = /^\u2014 (\S+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? []
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (name === undefined || bytes?.length !== cosignatureSize) return undefined
  const time = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(keyIdSize))
  if (!Number.isSafeInteger(time)) return undefined
  return { name, id: bytes.subarray(0, keyIdSize), time, signature: bytes.subarray(keyIdSize + 8) }
}

/** A cosignature of a key that is known. */
export interface KnownCosignature {
  readonly key: WitnessKey
  readonly cosignature: Cosignature
  readonly line: string
}

/** The first line of each known key; lines of others, and what is no cosignature, are left out. */
export function knownCosignatures(lines: readonly unknown[], keys: readonly WitnessKey[]): KnownCosignature[] {
  const read = lines.map(readCosignature)
  return keys.flatMap((key) => {
    const place = read.findIndex((one) => one !== undefined && one.name === key.name && equalBytes(one.id, key.id))
    return place < 0 ? [] : [{ key, cosignature: read[place] as Cosignature, line: lines[place] as string }]
  })
}

/** Requires each of known cosignatures to be that of its key over the head; `cosignature`. */
export function* requireCosignatures(head: ChainHead, known: readonly KnownCosignature[]): Checking {
  if (known.length === 0) return
  const due = known.map(({ key, cosignature: { time, signature } }): SignatureDue => {
    return { scheme: 'ed25519', key: key.publicKey, message: cosignedMessage(head, time), signature }
  })
  const names = known.map(({ key }) => key.name).join(', ')
  yield* requireSignatures(due, 'cosignature', `block ${head.height}: not all of ${names} verify`)
}

/**
 * Returns the cosignatures of known keys over a head: at least `needed`, each of which verifies. `cosignature` where one of a known key
 * does not, as C2SP asks; `unwitnessed` for fewer.
 */
export function* checkCosignatures(
  head: ChainHead,
  sent: unknown,
  { keys, needed }: { readonly keys: readonly WitnessKey[]; readonly needed: number },
): Checking<readonly KnownCosignature[]> {
  const known = knownCosignatures(sent === undefined ? [] : list(sent, maxCosignatures), keys)
  if (known.length < needed) {
    fail(
      'unwitnessed',
      `block ${head.height} has cosignatures of ${known.length} of the ${keys.length} witnesses, ${needed} needed`,
    )
  }
  yield* requireCosignatures(head, known)
  return known
}

/** The head of a block whose commitments were read. */
export function headOf(
  genesis: Hash,
  { header, didRoot }: { readonly header: Header; readonly didRoot: Hash },
): ChainHead {
  return { genesis, height: header.height, didRoot, hash: header.hash }
}

/** The bytes of the one right encoding in base64 with padding; undefined for any other text. */
function fromBase64(value: string): Uint8Array | undefined {
  const plain = value.replace(/={1,2}$/, '')
  if (value.length % 4 !== 0 || /[^A-Za-z0-9+/]/.test(plain)) return undefined
  return decodeBase64url(plain.replaceAll('+', '-').replaceAll('/', '_'))
}
