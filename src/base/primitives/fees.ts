/** Prices for room in blocks and in the state, in units of 10^-8. */
export interface Fees {
  readonly minimum: bigint
  /** For each byte of the unsigned part beyond the free ones. */
  readonly perByte: bigint
  /** Bytes of the unsigned part that cost nothing; 0 if absent. */
  readonly freeBytes?: number
  /** For a leaf that an operation on a credential adds to the map of committed state; 0 if absent. */
  readonly leaf?: bigint
  /** For a name that an operation gives a DID, by its length from 1 on; the last one for longer ones. Absent: nothing. */
  readonly names?: readonly bigint[]
}

/** Room that the fee of a transaction pays for. */
export interface Room {
  /** Bytes of the unsigned part. */
  readonly unsignedSize: number
  /** Whether its operation adds a leaf for a credential. */
  readonly newLeaf?: boolean | undefined
  /** Length of the name that its operation takes. */
  readonly nameLength?: number | undefined
}

/** The least fee of a transaction. */
export function leastFee(fees: Fees, room: Room): bigint {
  return fees.minimum + fees.perByte * pricedBytes(fees, room) + leafPrice(fees, room) + namePrice(fees, room)
}

/** Parts of {@link leastFee}, for a sentence: `248: 100, and 1 for each of 148 bytes beyond 1024`. */
export function leastFeeText(fees: Fees, room: Room): string {
  const { minimum, perByte, freeBytes = 0 } = fees
  const bytes = pricedBytes(fees, room)
  const leaf = leafPrice(fees, room)
  const name = namePrice(fees, room)
  const parts = [
    `${minimum}`,
    ...(perByte * bytes > 0n
      ? [`${perByte} for each of ${bytes} bytes${freeBytes > 0 ? ` beyond ${freeBytes}` : ''}`]
      : []),
    ...(leaf > 0n ? [`${leaf} for what stays in the state`] : []),
    ...(name > 0n ? [`${name} for a name of ${room.nameLength} characters`] : []),
  ]
  const [first, ...others] = parts
  if (others.length === 0) return `${leastFee(fees, room)}`
  return `${leastFee(fees, room)}: ${first}, and ${others.join(', and ')}`
}

function pricedBytes({ freeBytes = 0 }: Fees, { unsignedSize }: Room): bigint {
  return BigInt(Math.max(0, unsignedSize - freeBytes))
}

function leafPrice({ leaf = 0n }: Fees, { newLeaf = false }: Room): bigint {
  return newLeaf ? leaf : 0n
}

function namePrice({ names = [] }: Fees, { nameLength = 0 }: Room): bigint {
  return nameLength === 0 ? 0n : (names[nameLength - 1] ?? names.at(-1) ?? 0n)
}

/** Prices of new chains, and of pools on a chain whose rules have none. A leaf makes a revoke as dear as the create of a DID of usual size. */
export const usualPrices = {
  perByte: 1n,
  freeBytes: 1024,
  leaf: 1200n,
} as const

/** Prices of names of 1, 2, … characters, in units of 10^-8, of new chains; the last one of all longer ones. */
export const usualNamePrices = [1_000_000_000n, 500_000_000n, 200_000_000n, 100_000_000n, 50_000_000n, 10_000_000n]

/** Prices of a pool: those of the rules of the chain, and {@link usualPrices} for bytes and leaves that cost nothing there. */
export function poolFees({ minimum, perByte, freeBytes = 0, leaf = 0n, names = [] }: Fees): Fees {
  const bytes = perByte > 0n ? { perByte, freeBytes } : usualPrices
  return {
    minimum,
    perByte: bytes.perByte,
    freeBytes: bytes.freeBytes,
    leaf: leaf > 0n ? leaf : usualPrices.leaf,
    names,
  }
}
