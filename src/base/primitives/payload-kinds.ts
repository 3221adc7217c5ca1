import { type Payload, requireType, txType } from './payload.js'

export type TxKind = keyof typeof txType
/** The names of the types, by which interfaces tell transactions apart. */
export const txKinds = Object.keys(txType) as readonly TxKind[]

/** Facts about the transactions of one type, beside their bytes. */
interface Kind {
  /** Its name in the live log; undefined: its number stands there. */
  readonly label?: string
  /** Whether a node that prunes gives up a transaction: everything that is asked of it later is in its coins. */
  readonly prunable?: true
}

const kinds: Readonly<Record<TxKind, Kind>> = {
  coinbase: { prunable: true },
  registerAsset: {},
  transfer: { label: 'transfer', prunable: true },
  record: { label: 'record' },
  sideChainPow: {},
  recharge: { label: 'recharge' },
  withdraw: { label: 'withdrawal' },
  crossChainTransfer: { label: 'transfer to another chain' },
  did: {},
}
const kindsByType = new Map<number, TxKind>(txKinds.map((kind) => [txType[kind], kind]))

/** The name of a type. */
export function kindOfType(type: Payload['type']): TxKind {
  return kindsByType.get(type) as TxKind
}

/** The name of a type in the live log. */
export function labelOfType(type: Payload['type']): string {
  return kinds[kindOfType(type)].label ?? `type ${type}`
}

/** Whether a node that prunes gives up transactions of a type that decodes; throws a CodecError for another one. */
export function isPrunable(type: number): boolean {
  requireType(type)
  return kinds[kindOfType(type)].prunable === true
}
