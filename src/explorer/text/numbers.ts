/** Numbers as people read them. Pure. */

/** Narrow no-break space between groups of three digits. */
const gap = '\u202f'

/** Groups the digits of a whole number: 1 234 567. */
export function whole(value: number | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, gap)
}

/** The two parts of an amount of coins with eight decimals, as text: digits before the point, grouped, and behind it. */
export interface AmountParts {
  readonly sign: string
  readonly coins: string
  readonly decimals: string
}

/** Splits a decimal text of coins, "-12.50000000"; undefined for other text. Zeros at the end are left out, but for the first two. */
export function amountParts(text: string): AmountParts | undefined {
  const [, sign = '', coins = '', decimals = ''] = /^(-?)(\d{1,30})(?:\.(\d{1,8}))?$/.exec(text) ?? []
  if (coins === '') return undefined
  return { sign, coins: whole(BigInt(coins)), decimals: decimals.padEnd(2, '0').replace(/(?<=^\d\d+)0+$/, '') }
}

/** Units of 10^-8 in a decimal text of coins; undefined for other text. */
export function unitsOf(text: string): bigint | undefined {
  const [, sign, coins, decimals = ''] = /^(-?)(\d{1,30})(?:\.(\d{1,8}))?$/.exec(text) ?? []
  if (coins === undefined) return undefined
  const units = BigInt(coins) * 100_000_000n + BigInt(decimals.padEnd(8, '0'))
  return sign === '-' ? -units : units
}

/** The decimal text of units of 10^-8, with eight decimals. */
export function coinsOf(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(9, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -8)}.${digits.slice(-8)}`
}

/** Units of 10^-8 that a fee pays for a byte, with two decimals where they say something. */
export function feeRate(fee: string, size: number): string {
  return rounded(Number(unitsOf(fee) ?? 0n) / size)
}

/** A number in few digits: whole from 100 on, else with two decimals where they say something. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return '?'
  return value >= 100 ? whole(Math.round(value)) : String(Number(value.toFixed(2)))
}

/** Units of 10^-8 as coins, rounded to whole units. */
export function amountText(units: number): string {
  const { coins = '?', decimals = '' } = amountParts(coinsOf(BigInt(Math.round(units)))) ?? {}
  return `${coins}.${decimals}`
}

/** Bytes with a unit: 815 B, 12.3 kB, 4.0 MB. */
export function bytes(count: number): string {
  if (!Number.isFinite(count)) return '?'
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = count
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return unit === 0 ? `${whole(Math.round(value))} B` : `${value.toFixed(value < 100 ? 1 : 0)} ${units[unit]}`
}

/** A noun with its number: "1 block", "3 blocks". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${whole(count)} ${count === 1 ? noun : plural}`
}
