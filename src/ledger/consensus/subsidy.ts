import type { Spec } from '../../base/primitives/spec.js'

/** New coins that the coinbase at `height` may create: the initial subsidy, halved every `halving` blocks. */
export function subsidyAt(spec: Spec, height: number): bigint {
  const { initial, halving } = spec.subsidy
  return halving === 0 ? initial : initial >> BigInt(Math.floor(height / halving))
}
