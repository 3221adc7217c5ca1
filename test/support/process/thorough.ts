/** How often a test repeats what it does with other random values: some of it in a usual run, all of it when asked to. */
export const thorough = process.env['DIDLEDGER_THOROUGH'] === '1'
const quick = process.env['DIDLEDGER_QUICK'] === '1'

/** Each so many of what a test enumerates in a usual run; all of it in a thorough one. */
export function oneIn(usual: number): number {
  return thorough ? 1 : usual
}

/** Rounds of a usual run; with DIDLEDGER_THOROUGH=1 those of a thorough one, with DIDLEDGER_QUICK=1 a tenth of the usual. */
export function rounds(usual: number, thoroughly: number): number {
  if (thorough) return thoroughly
  return quick ? Math.ceil(usual / 10) : usual
}
