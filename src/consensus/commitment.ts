import { RuleError } from '../errors.js'
import { asBuffer, concat, equalBytes, fromUtf8 } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { type Spec, validatorsHash } from '../primitives/spec.js'
import { type Attribute, attributeUsage, type Transaction } from '../primitives/transaction.js'

/**
 * What a coinbase commits to beyond its outputs: one attribute of usage 0x81 whose data is `LDG1`, then entries of a
 * tag byte and 32 bytes with ascending tags. Other attributes of that usage are free.
 */

const magic = fromUtf8('LDG1')
const entrySize = 33

export const commitmentTag = { witnessRoot: 1, nextValidatorsHash: 3 } as const

/** The commitment attribute of a coinbase at `height` whose block has this witness root. */
export function commitmentAttribute(spec: Spec, height: number, witnessRoot: Hash): Attribute {
  const entries = expectedEntries(spec, height, witnessRoot)
  const data = concat(magic, ...entries.map(([tag, hash]) => concat(Uint8Array.of(tag), hash)))
  return { usage: attributeUsage.memo, data }
}

/** Throws unless the coinbase carries exactly one commitment attribute with exactly the entries the spec asks. */
export function checkCommitment(spec: Spec, height: number, coinbase: Transaction, witnessRoot: Hash): void {
  const found = coinbase.attributes.filter(
    ({ usage, data }) => usage === attributeUsage.memo && equalBytes(data.subarray(0, magic.length), magic),
  )
  const data = found[0]?.data
  if (data === undefined || found.length !== 1) {
    throw new RuleError('coinbase-commitment', `the coinbase has ${found.length} commitment attributes, not one`)
  }
  const expected = expectedEntries(spec, height, witnessRoot)
  const tags = tagsOf(data)
  if (tags === undefined || tags.join() !== expected.map(([tag]) => tag).join()) {
    throw new RuleError('coinbase-commitment', `commitment entries ${tags?.join() ?? 'of a broken form'}`)
  }
  expected.forEach(([tag, hash], i) => {
    const start = magic.length + i * entrySize + 1
    if (equalBytes(data.subarray(start, start + 32), hash)) return
    throw new RuleError(tag === commitmentTag.witnessRoot ? 'coinbase-witness-root' : 'coinbase-validators')
  })
}

/**
 * Whether the coinbase of a connected block at `height` names the validators that the spec has for the next: an upgrade that
 * came too late says others.
 */
export function namesNextValidators(spec: Spec, height: number, coinbase: Transaction): boolean {
  const entry = concat(Uint8Array.of(commitmentTag.nextValidatorsHash), validatorsHash(spec, height + 1))
  return coinbase.attributes.some(
    ({ usage, data }) =>
      usage === attributeUsage.memo &&
      equalBytes(data.subarray(0, magic.length), magic) &&
      equalBytes(data.subarray(-entrySize), entry),
  )
}

function expectedEntries(spec: Spec, height: number, witnessRoot: Hash): [number, Hash][] {
  const entries: [number, Hash][] = [[commitmentTag.witnessRoot, witnessRoot]]
  if (spec.hasValidators) entries.push([commitmentTag.nextValidatorsHash, validatorsHash(spec, height + 1)])
  return entries
}

function tagsOf(data: Uint8Array): number[] | undefined {
  const body = asBuffer(data).subarray(magic.length)
  if (body.length % entrySize !== 0) return undefined
  return Array.from({ length: body.length / entrySize }, (_, i) => body[i * entrySize] as number)
}
