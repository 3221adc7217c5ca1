import { equalBytes } from '../../base/primitives/bytes.js'
import { coinDepth } from '../../base/primitives/coin-depth.js'
import { CodecError, decodeAll, type Reader } from '../../base/primitives/codec.js'
import { zeroHash } from '../../base/primitives/hash.js'
import { type Attribute, attributeUsage } from '../../base/primitives/transaction-fields.js'
import { commitmentTag, type Commitments, decodeCommitments, isCommitments } from './commitment.js'
import { fail, ProofError } from './proof-failure.js'

/** The coinbase of an anchor: its unsigned part, and what it commits to. */

/** @limit bytes: unsigned part of the coinbase of an anchor, and by a rule of the chain of every block that may be one */
export const maxAnchorCoinbase = 64 * 1024
/** An inner node of a merkle tree has as many bytes, and could be taken for a coinbase. */
const ambiguousSize = 64
const coinbasePayloadVersion = 4
/** Bytes of an output. */
const outputSize = 65
/** @limit count: attributes, and outputs, of the coinbase of an anchor */
const listCap = 0xffff

const known: readonly number[] = Object.values(attributeUsage)

/** Attributes of a coinbase of the block at a height, from its unsigned part. Throws `anchor-coinbase`. */
export function coinbaseAttributes(bytes: Uint8Array, height: number): readonly Attribute[] {
  if (bytes.length === ambiguousSize) fail('anchor-coinbase', 'it could be an inner node')
  const read = (reader: Reader) => readCoinbase(reader, height)
  return decodeAll(bytes, read, (reason) => new ProofError('anchor-coinbase', reason))
}

/** Reads the unsigned part of a coinbase; throws a CodecError. */
function readCoinbase(reader: Reader, height: number): Attribute[] {
  const first = reader.u8()
  const isTyped = first === 9
  require(isTyped ? reader.u8() : first, 0, 'type')
  require(reader.u8(), coinbasePayloadVersion, 'payload version')
  reader.varbytes(reader.remaining)
  const attributes = reader.list(listCap, 2, () => readAttribute(reader))
  require(reader.varuint(listCap), 1, 'number of inputs')
  if (!equalBytes(reader.hash(), zeroHash)) throw new CodecError('it spends an output')
  require(reader.u16(), 0xffff, 'index')
  require(reader.u32(), 0xffffffff, 'sequence')
  const outputs = reader.varuint(listCap)
  for (let i = 0; i < outputs; i++) {
    reader.take(outputSize)
    if (isTyped) require(reader.u8(), 0, 'output type')
  }
  require(reader.u32(), height, 'lockTime')
  return attributes
}

function readAttribute(reader: Reader): Attribute {
  const usage = reader.u8()
  if (!known.includes(usage)) throw new CodecError(`attribute usage ${usage} is not known`)
  return { usage, data: reader.varbytes(reader.remaining) }
}

function require(found: number, wanted: number, what: string): void {
  if (found !== wanted) throw new CodecError(`${what} ${found} instead of ${wanted}`)
}

/**
 * Returns the commitments of a coinbase by tag; `anchor-commitment` unless they are exactly those required, the root of DIDs among them.
 * Some blocks with 288 below them commit to the coins too, which no proof of a DID depends on.
 */
export function commitmentsIn(
  attributes: readonly Attribute[],
  { hasValidators, height }: { readonly hasValidators: boolean; readonly height: number },
): Commitments {
  const [found, second] = attributes.filter(({ usage, data }) => usage === attributeUsage.memo && isCommitments(data))
  if (found === undefined || second !== undefined) return fail('anchor-commitment', 'not exactly one attribute')
  const entries = decodeCommitments(found.data)
  if (entries === undefined) return fail('anchor-commitment', 'entries of a broken form')
  const { witnessRoot, didRoot, nextValidators, coinRoot } = commitmentTag
  const tags = [...entries.keys()].filter((tag) => tag !== coinRoot || height < coinDepth).join()
  const wanted = [witnessRoot, didRoot, ...(hasValidators ? [nextValidators] : [])].join()
  return tags === wanted ? entries : fail('anchor-commitment', `entries ${tags} instead of ${wanted}`)
}
