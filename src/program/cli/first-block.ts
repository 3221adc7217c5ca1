import { paramsAt, quorum, type Spec } from '../../base/primitives/spec.js'

/** When a chain has its first block after the start of its nodes, as its spec says; undefined for a devnet, which is asked for it. */
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
