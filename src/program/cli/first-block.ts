import { paramsAt, quorum, type Spec } from '../../base/primitives/spec.js'

/** Time of a chain's first block after the start of its nodes, by its spec; undefined for a devnet, which makes it on demand. */
export function firstBlockText(spec: Spec): string | undefined {
  const { devnet, producer, timing } = spec
  if (devnet) return undefined
  const count = paramsAt(spec, 1).validators.length
  const needed = count === 1 ? 'its validator runs' : `${quorum(count)} of its ${count} validators run`
  if (count === 0) return 'when a miner makes it'
  if (producer === 'miners') return `when a miner makes it, once ${needed}`
  const idle = Math.max(timing.minInterval, timing.emptyInterval)
  const after = (milliseconds: number) => `${milliseconds / 1000} s after the start`
  if (idle === timing.minInterval) return `${after(idle)}, once ${needed}`
  return `${after(idle)}, or ${after(timing.minInterval)} if a transaction waits, once ${needed}`
}
