import { describe, expect, it } from 'vitest'
import { carrierOf, isWorse, PoolNode } from '../../../../src/ledger/mempool/pool-node.js'
import { bareEntry } from '../../../support/builders/pool-entries.js'

const nodeOf = (order: number, fee: bigint, parents: readonly PoolNode[] = [], length = 100) =>
  new PoolNode(bareEntry(order, [], fee, length), order, parents)
const paid = ({ fee, bytes }: PoolNode['worth']) => [fee, bytes]

describe('a node of the pool', () => {
  it('is worth what it pays, or what its package pays where that is more for a byte', () => {
    const node = nodeOf(0, 1000n)
    const [dear, cheap] = [nodeOf(1, 9000n), nodeOf(2, 10n, [], 900)]
    expect(paid(node.worth)).toEqual([1000n, 100])
    node.carry(dear.carried, 1)
    expect(paid(node.worth)).toEqual([10_000n, 200])
    node.carry(cheap.carried, 1)
    expect([paid(node.carried), paid(node.worth)]).toEqual([
      [10_010n, 1100],
      [1000n, 100],
    ])
    node.carry(cheap.carried, -1)
    expect(paid(node.worth)).toEqual([10_000n, 200])
    node.carry(dear.carried, -1)
    expect([paid(node.carried), paid(node.worth)]).toEqual([
      [1000n, 100],
      [1000n, 100],
    ])
  })

  it('is carried by the parent that pays least for a byte, of equal ones by the first', () => {
    const parents = [nodeOf(0, 300n), nodeOf(1, 200n), nodeOf(2, 200n), nodeOf(3, 400n, [], 150)] as const
    const [first, second, third, fourth] = parents
    expect(carrierOf(nodeOf(9, 1n))).toBe(undefined)
    expect(carrierOf(nodeOf(9, 1n, parents))).toBe(second)
    expect(carrierOf(nodeOf(9, 1n, [...parents].reverse()))).toBe(second)
    expect(carrierOf(nodeOf(9, 1n, [first, fourth]))).toBe(fourth)
    expect(carrierOf(nodeOf(9, 1n, [third, first]))).toBe(third)
    expect([...nodeOf(9, 1n, [nodeOf(8, 1n, [first])]).ancestors()].map(({ order }) => order)).toEqual([8, 0])
  })

  it('goes before another where it is worth less, of equal ones the later', () => {
    const [low, high, later] = [nodeOf(0, 1n), nodeOf(1, 2n), nodeOf(2, 2n)] as const
    expect([isWorse(low, high), isWorse(high, low)]).toEqual([true, false])
    expect([isWorse(later, high), isWorse(high, later)]).toEqual([true, false])
  })
})
