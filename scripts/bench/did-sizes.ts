/** Numbers of DIDs to measure with, ascending: those of `--dids=10000,1000000`, or the usual ones. */
export function didSizes(usual: readonly number[]): readonly number[] {
  const given = process.argv.find((argument) => argument.startsWith('--dids='))
  if (given === undefined) return usual
  const sizes = given.slice('--dids='.length).split(',').map(Number)
  if (sizes.some((size) => !Number.isInteger(size) || size < 1)) throw new Error('--dids takes numbers of DIDs')
  return sizes.sort((a, b) => a - b)
}
