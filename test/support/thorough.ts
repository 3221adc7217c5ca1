/** How often a test repeats what it does with other random values: some of it in a usual run, all of it when asked to. */
export const thorough = process.env['DIDLEDGER_THOROUGH'] === '1'

/** Rounds of a usual run, or with DIDLEDGER_THOROUGH=1 those of a thorough one. */
export function rounds(usual: number, thoroughly: number): number {
  return thorough ? thoroughly : usual
}
