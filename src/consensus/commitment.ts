import { brokenRule } from '../errors/broken-rule.js'
import { RuleError } from '../errors/rule-error.js'
import { asBuffer, concat, equalBytes, fromUtf8 } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { type Spec, validatorsHash } from '../primitives/spec.js'
import { attributeUsage, type Transaction } from '../primitives/transaction.js'
import type { Attribute } from '../primitives/transaction-fields.js'

/**
 * Commitments of a coinbase beyond its outputs: one attribute of usage 0x81 whose data is `LDG1`, then entries of a tag byte and
 * 32 bytes with ascending tags. Other attributes of that usage are free.
 */

const magic = fromUtf8('LDG1')
const entrySize = 33

export const commitmentTag = { witnessRoot: 1, nextValidatorsHash: 3 } as const

/** The commitment attribute of a coinbase at `height` whose block has this witness root. */
export function commitmentAttribute(spec: Spec, height: number, witnessRoot: Hash): Attribute {
  const entries = [entry(commitmentTag.witnessRoot, witnessRoot)]
  if (spec.hasValidators) entries.push(nextValidatorsEntry(spec, height))
  return { usage: attributeUsage.memo, data: concat(magic, ...entries) }
}

/**
 * Throws unless the coinbase carries exactly one commitment attribute, with exactly the entries that the spec requires and this
 * witness root. The next validators are checked by {@link namesNextValidators}.
 */
export function checkCommitment(spec: Spec, coinbase: Transaction, witnessRoot: Hash): void {
  const found = commitmentsOf(coinbase)
  const [data] = found
  if (data === undefined || found.length !== 1) {
    throw new RuleError('coinbase-commitment', `the coinbase has ${found.length} commitment attributes, not one`)
  }
  const tags = tagsOf(data)
  const { witnessRoot: first, nextValidatorsHash: second } = commitmentTag
  if (tags?.join() !== (spec.hasValidators ? [first, second] : [first]).join()) {
    throw new RuleError('coinbase-commitment', `commitment entries ${tags?.join() ?? 'of a broken form'}`)
  }
  if (!equalBytes(data.subarray(magic.length, magic.length + entrySize), entry(first, witnessRoot))) {
    throw brokenRule('coinbase-witness-root')
  }
}

/** Whether the coinbase of a block at `height`, its commitment being sound, names the spec's validators of the next height. */
export function namesNextValidators(spec: Spec, height: number, coinbase: Transaction): boolean {
  if (!spec.hasValidators) return true
  const expected = nextValidatorsEntry(spec, height)
  return commitmentsOf(coinbase).some((data) => equalBytes(data.subarray(-entrySize), expected))
}

function commitmentsOf({ attributes }: Transaction): Uint8Array[] {
  return attributes
    .filter(({ usage, data }) => usage === attributeUsage.memo && equalBytes(data.subarray(0, magic.length), magic))
    .map(({ data }) => data)
}

function nextValidatorsEntry(spec: Spec, height: number): Uint8Array {
  return entry(commitmentTag.nextValidatorsHash, validatorsHash(spec, height + 1))
}

function entry(tag: number, hash: Hash): Uint8Array {
  return concat(Uint8Array.of(tag), hash)
}

function tagsOf(data: Uint8Array): number[] | undefined {
  const body = asBuffer(data).subarray(magic.length)
  if (body.length % entrySize !== 0) return undefined
  return Array.from({ length: body.length / entrySize }, (_, i) => body[i * entrySize] as number)
}
