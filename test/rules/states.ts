import { type DidRules } from '../../src/identity/did/did-rules.js'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { type CodeEntry, codes } from '../../src/node/library/codes.js'
import type { PoolLimits } from '../../src/ledger/mempool/policy.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../src/base/primitives/confirm.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { craft, craftBlock, craftConfirm, genesisCoin } from '../support/builders/blocks.js'
import { TestChain } from '../support/builders/chain.js'
import { authenticationKey, didRules, type Holder, Registry } from '../support/builders/did.js'
import { quickSigner } from '../support/builders/signatures.js'
import { type SpecOverrides, testPublicKey } from '../support/builders/spec.js'

/** States of other nodes of the same chain, in which an input of a row is tried as a relaying node would try it. */
export interface OtherState {
  readonly name: string
  /** A chain with the genesis block of `overrides` and another content, for transactions or for blocks. */
  chain(overrides: SpecOverrides, use: 'blocks' | Partial<PoolLimits>): Promise<TestChain>
  /** What the chain holds of the DIDs of these holders. */
  registry(holders: readonly Holder[], rules?: DidRules): Registry
  /** The open height and the block below it, where `height` and `previous` are those of the row. */
  open(height: number, previous: Uint8Array): { readonly height: number; readonly previous: Uint8Array }
}

/** Far from the txids of a row: equal ids would stand for equal operations. */
const otherTxids = 1_000_000

const opened: OtherState['chain'] = (overrides, use) =>
  TestChain.open(overrides, { limits: use === 'blocks' ? {} : use })
const emptyRegistry = (_: readonly Holder[], rules: DidRules = didRules) => new Registry(rules, otherTxids)

/** The next block, confirmed by all validators of a test spec where it has any. */
async function grow({ chain, spec }: TestChain, ...transactions: readonly Transaction[]): Promise<void> {
  const block = craftBlock(chain, { transactions })
  const confirm = spec.hasValidators ? confirmBytes(craftConfirm(spec, block)) : undefined
  await chain.acceptBlock(block.bytes, confirm)
}

/** The DID of a holder with other keys under the ids that its operations name; its own key has another id. */
function otherKeys({ create, plan, primary }: Holder) {
  const ids = plan.keys.map(({ fragment }) => authenticationKey(fragment, quickSigner()))
  const keys = [authenticationKey('other', primary), ...ids]
  return create({ keys }, '#other')
}

const nothing: OtherState = {
  name: 'genesis alone',
  chain: opened,
  registry: emptyRegistry,
  open: (height, previous) => ({ height: height + 1, previous }),
}

const otherContent: OtherState = {
  name: 'other blocks, and other keys under the same ids',
  async chain(overrides, use) {
    const test = await opened(overrides, use)
    for (let i = 0; i < 3; i++) await grow(test)
    return test
  },
  registry(holders, rules) {
    const registry = emptyRegistry(holders, rules)
    for (const holder of holders) registry.apply(otherKeys(holder))
    return registry
  },
  open: (height) => ({ height, previous: new Uint8Array(32).fill(7) }),
}

const spent: OtherState = {
  name: 'coins that are gone, and DIDs that are deactivated',
  async chain(overrides, use) {
    const test = await opened(overrides, use)
    const amounts = [100_000_000_000n, 200_000_000_000n] as const
    for (const output of [0, 1] as const) {
      const value = amounts[output] - 50_000n
      await grow(test, craft(test.spec, [genesisCoin(test.chain, output)], [{ to: 40, value }], [10 + output]))
    }
    return test
  },
  registry(holders, rules) {
    const registry = emptyRegistry(holders, rules)
    for (const holder of holders) [holder.create(), holder.deactivate()].forEach((one) => registry.apply(one))
    return registry
  },
  open: (height, previous) => ({ height: height - 1, previous }),
}

const upgraded: OtherState = {
  name: 'other parameters from the first block on',
  chain(overrides, use) {
    // The validators of a height are named by the block below it, which a node with others does not have.
    const alone = (overrides['validators'] as readonly string[] | undefined)?.length === 1 && use !== 'blocks'
    const parameters = {
      fees: { minimum: '5000000', perByte: '0' },
      specifications: { did: ['other/did/1.0'], credential: ['other/credential/1.0'] },
      ...(alone ? { validators: [toHex(testPublicKey(1))] } : {}),
    }
    return opened({ ...overrides, upgrades: [{ height: 1, name: 'other', parameters }] }, use)
  },
  registry: (_, rules = didRules) =>
    new Registry({ ...rules, specifications: { did: ['other/did/1.0'], credential: [] } }, otherTxids),
  open: (height, previous) => ({ height, previous }),
}

export const otherStates: readonly OtherState[] = [nothing, otherContent, spent, upgraded]

/** The code that a call is refused with, or `accepted`. Anything but a RuleError is thrown on. */
export async function outcomeOf(call: () => void | Promise<void>): Promise<keyof typeof codes | 'accepted'> {
  try {
    await call()
    return 'accepted'
  } catch (error) {
    if (error instanceof RuleError) return error.code
    throw error
  }
}

/** Codes that repeat what was decided before, whatever code it had then. */
const repeated: readonly string[] = ['block-invalid', 'block-parent-invalid']

/**
 * What is wrong with the results of one input in several states: where a code that is pinned comes out once, it is the only
 * one that is, and no state accepts. Undefined where nothing is.
 */
export function contradictionOf(outcomes: readonly (keyof typeof codes | 'accepted')[]): string | undefined {
  const entryOf = (code: keyof typeof codes): CodeEntry => codes[code]
  const pinned = outcomes.filter((outcome) => outcome !== 'accepted' && entryOf(outcome).pinned === 'bytes')
  const different = new Set(pinned.filter((outcome) => !repeated.includes(outcome)))
  if (different.size > 1) return `several pinned codes: ${[...different].join(', ')}`
  return pinned.length > 0 && outcomes.includes('accepted') ? `${pinned[0]} where others accept` : undefined
}
