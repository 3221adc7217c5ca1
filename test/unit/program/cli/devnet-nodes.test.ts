import { describe, expect, it } from 'vitest'
import { portBaseToJoin, welcome } from '../../../../src/program/cli/devnet-nodes.js'
import type { NodeStart } from '../../../../src/program/cli/run-node.js'

describe('the ports of a node that joins', () => {
  it.each([
    [0, 24_330],
    [20_330, 24_330],
    [21_330, 25_330],
    [61_527, 65_527],
    [62_527, 24_330],
  ])('are above those of a network at %d', (portBase, join) => expect(portBaseToJoin(portBase)).toBe(join))
})

it('a node that answers nothing ends no start: accounts are without balances, and no commands are shown for them', async () => {
  const at = 'http://127.0.0.1:9'
  const node = {
    name: 'localnet',
    genesis: '00'.repeat(32),
    height: 4,
    rest: at,
    rpc: at,
    ws: 'ws://127.0.0.1:9',
    p2p: ['127.0.0.1:9'],
  }
  const { lines, value } = await welcome([node as never as NodeStart], {
    directory: '/data',
    temporary: true,
    joinAt: 24_330,
  })
  expect(lines).toContain('(0)  EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG')
  expect(lines.filter((line) => line.includes('wallet send'))).toEqual([])
  expect(lines.join('\n')).toContain('npx didledger start --genesis localnet')
  expect(JSON.stringify(value)).not.toContain('balance')
})
