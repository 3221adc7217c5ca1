import type { ProgramHash } from './address.js'
import { concat, equalBytes } from './bytes.js'
import { coinDepth } from './coin-depth.js'
import type { Fees } from './fees.js'
import { sha256 } from './hash.js'
import type { RegisterAsset } from './payload.js'

/** The spec of a chain: everything on which its nodes must agree. spec-file.ts reads it. */

/** The rules in force at one height. */
export interface Params {
  /** 33-byte keys in the order in which they propose; empty on a chain without validators. */
  readonly validators: readonly Uint8Array[]
  readonly fees: Fees
  readonly specifications: { readonly did: readonly string[]; readonly credential: readonly string[] }
  /** Whether a coinbase commits to the state of all DIDs after its block. Once it does it stays so. */
  readonly didRoot: boolean
  /** Whether documents may have the members of DID Core that are not in the first form: see docs/format.md. Once they may it stays so. */
  readonly didCore: boolean
  /** Whether DIDs may have names, with the prices of `fees`. Once they may it stays so. */
  readonly didNames: boolean
}

/** Heights of the blocks that commit to all coins: the multiples of `interval` that are not below `from`. */
export interface CoinRootHeights {
  readonly from: number
  readonly interval: number
}

/** A chain spec, checked, with its texts parsed. */
export interface Spec {
  readonly name: string
  /** One validator, virtual time, dev_ methods. */
  readonly devnet: boolean
  /** Unix seconds of the genesis block. */
  readonly time: number
  readonly powLimitBits: number
  readonly retarget: { readonly interval: number; readonly spacing: number }
  readonly auxpowChainId: number
  readonly evmChainId: number
  readonly producer: 'sponsor' | 'miners'
  /** Blocks before a coinbase output may be spent. */
  readonly maturity: number
  readonly limits: {
    readonly blockSize: number
    readonly blockTransactions: number
    readonly transactionCost: number
    readonly blockCost: number
  }
  /** Milliseconds. */
  readonly timing: {
    readonly minInterval: number
    readonly emptyInterval: number
    readonly maxDrift: number
    readonly propose: number
    readonly delta: number
  }
  /** Milliseconds. */
  readonly maxViewTimeout: number
  /** The text that was read, upgrades included. */
  readonly text: string
  readonly asset: RegisterAsset
  readonly allocations: readonly { readonly programHash: ProgramHash; readonly amount: bigint }[]
  readonly maxMoney: bigint
  readonly subsidy: { readonly initial: bigint; readonly halving: number }
  /** Sections of equal rules, at most one from each height on; heights ascend, the first is 0. */
  readonly sections: readonly { readonly height: number; readonly params: Params }[]
  /** Whether blocks need confirms. It holds for the whole chain. */
  readonly hasValidators: boolean
  /** Names of validators on pages, by their keys in hex. Not bound by {@link digest}: those of upgrades get names later. */
  readonly validatorNames: Readonly<Record<string, string>>
  /**
   * Whether the proofs of work of one side chain are of ascending heights. It holds for the whole chain: a database with only the later
   * ones would decide otherwise than others.
   */
  readonly sideChainOrder: boolean
  /** The blocks that commit to all coins; absent: none does. */
  readonly coinRoots?: CoinRootHeights
  /** sha256 of the canonical JSON without `upgrades` and `validatorNames`, bound by the genesis coinbase. */
  readonly digest: Uint8Array
  /** Digest of the upgrades at or below a height as they were written, for comparison between nodes. */
  upgradesDigest(height: number): Uint8Array
}

/** Limits that are the same on every chain. */
export const fixedLimits = {
  /** @limit count: attributes of a transaction */
  attributes: 16,
  /** @limit bytes: data of an attribute */
  attributeSize: 1024,
  /** @limit count: outputs of a transaction */
  outputs: 0xffff,
  /** @limit count: keys in the programs of a block, plus possible signers of its side-chain proofs of work, for each proof */
  blockKeys: 16_000,
  /**
   * @limit bytes: data hashed for the programs of a block: the unsigned part of a transaction once for each check of its
   * signature cost
   */
  blockHashedBytes: 1024 * 1024 * 1024,
  /** @limit count: issuer documents that new foreign credentials of a block refer to, declared or in documents */
  issuerDocuments: 1000,
  /**
   * @limit bytes: documents that the operations of a block make a node read: of issuers, previous ones, and of those who declare
   * and revoke; each counts once, cached or not
   */
  documentBytes: 16 * 1024 * 1024,
} as const

/** The rules in force at `height`. */
export function paramsAt(spec: Spec, height: number): Params {
  let found = spec.sections[0] as Spec['sections'][number]
  for (const section of spec.sections) {
    if (section.height <= height) found = section
  }
  return found.params
}

/**
 * The first block from a height on that commits to all coins, and the height of the state whose coins they are; undefined where none does.
 */
export function nextCoinRoot(
  { coinRoots }: Spec,
  height: number,
): { readonly height: number; readonly state: number } | undefined {
  if (coinRoots === undefined) return undefined
  const { from, interval } = coinRoots
  const next = Math.ceil(Math.max(height, from, 1) / interval) * interval
  return { height: next, state: next - coinDepth }
}

/** The last block up to a height that commits to coins, or the first one above it; undefined where there will be none. */
export function latestCoinRoot(spec: Spec, top: number): ReturnType<typeof nextCoinRoot> {
  const { interval = 0 } = spec.coinRoots ?? {}
  return nextCoinRoot(spec, Math.max(1, top - interval + 1))
}

/** Height of the state whose coins the block at a height commits to; undefined: it commits to none. */
export function coinStateOf(spec: Spec, height: number): number | undefined {
  const next = nextCoinRoot(spec, height)
  return next?.height === height ? next.state : undefined
}

/** Whether nodes keep the map of DIDs: its root is committed to from some height on. */
export function keepsMap({ sections }: Spec): boolean {
  return sections.some(({ params }) => params.didRoot)
}

/** sha256 of the 33-byte keys in force at `height`, in list order: the block before commits to it. */
export function validatorsHash(spec: Spec, height: number): Uint8Array {
  return keysHash(paramsAt(spec, height))
}

/** Every block is compared with it. */
const keysHashes = new WeakMap<Params, Uint8Array>()

function keysHash(params: Params): Uint8Array {
  const known = keysHashes.get(params)
  if (known !== undefined) return known
  const made = sha256(concat(...params.validators))
  keysHashes.set(params, made)
  return made
}

/** Heights above 1 from which on others confirm blocks than before, ascending. */
export function validatorChanges({ sections }: Spec): readonly number[] {
  const changes = sections.filter(({ height, params }, i) => {
    const before = sections[i - 1]
    return height > 1 && before !== undefined && !equalBytes(keysHash(params), keysHash(before.params))
  })
  return changes.map(({ height }) => height)
}

/** Votes that confirm a block of `count` validators: ⌊2N/3⌋ + 1. */
export function quorum(count: number): number {
  return Math.floor((2 * count) / 3) + 1
}
