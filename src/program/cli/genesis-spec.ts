import { easiestBits } from '../../base/primitives/compact.js'
import { usualNamePrices, usualPrices } from '../../base/primitives/fees.js'

/** Default supply of a new chain, in units of 10^-8. */
export const newSupply = 3_300_000_000_000_000n

/** Members of the spec that differ between new chains. */
export interface NewChain {
  readonly name: string
  /** Unix seconds. */
  readonly time: number
  /** Below 2^32; distinguishes this chain from others in merge mining and for Ethereum clients. */
  readonly id: number
  /** In units of 10^-8. */
  readonly allocation: { readonly address: string; readonly amount: bigint }
  /** Public keys in hex, in the order in which they propose, and what pages call them. */
  readonly validators: readonly { readonly key: string; readonly name?: string }[]
  /** Whether DID operations may name the specifications of existing SDKs. */
  readonly sdkStrings: boolean
}

/**
 * The spec text of a chain whose validators make the blocks, on machines some tens of milliseconds apart. Validators live on
 * fees: there are no new coins after genesis.
 */
export function newSpecJson({ name, time, id, allocation, validators, sdkStrings }: NewChain): string {
  const specification = (kind: string) => [`${name}/${kind}/1.0`, ...(sdkStrings ? [`elastos/${kind}/1.0`] : [])]
  const named = validators.flatMap(({ key, name: called }) => (called === undefined ? [] : [[key, called] as const]))
  const spec = {
    name,
    devnet: false,
    time,
    asset: {
      name: 'ELA',
      description: '',
      precision: 8,
      assetType: 0,
      recordType: 0,
      amount: '0',
      controller: '00'.repeat(21),
    },
    allocations: [{ address: allocation.address, amount: String(allocation.amount) }],
    powLimitBits: easiestBits,
    retarget: { interval: 720, spacing: 120 },
    auxpowChainId: id,
    evmChainId: id,
    producer: 'sponsor',
    maturity: 100,
    maxMoney: String(newSupply),
    subsidy: { initial: '0', halving: 0 },
    fees: {
      minimum: '100',
      perByte: String(usualPrices.perByte),
      freeBytes: usualPrices.freeBytes,
      leaf: String(usualPrices.leaf),
    },
    limits: { blockSize: 8_000_000, blockTransactions: 10_000, transactionCost: 2_000, blockCost: 40_000 },
    specifications: { did: specification('did'), credential: specification('credential') },
    validators: validators.map(({ key }) => key),
    ...(named.length > 0 ? { validatorNames: Object.fromEntries(named) } : {}),
    didRoot: true,
    didCore: true,
    didNames: usualNamePrices.map(String),
    coinInterval: 10_080,
    sideChainOrder: true,
    timing: { minInterval: 1_000, emptyInterval: 60_000, maxDrift: 15_000, propose: 3_000, delta: 500 },
    maxViewTimeout: 60_000,
    upgrades: [],
  }
  return `${JSON.stringify(spec, null, 2)}\n`
}
