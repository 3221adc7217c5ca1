import { describe, expect, it } from 'vitest'
import { portBaseToJoin } from '../../../../src/program/cli/devnet-nodes.js'

describe('the ports of a node that joins', () => {
  it.each([
    [0, 24_330],
    [20_330, 24_330],
    [21_330, 25_330],
    [61_527, 65_527],
    [62_527, 24_330],
  ])('are above those of a network at %d', (portBase, join) => expect(portBaseToJoin(portBase)).toBe(join))
})
