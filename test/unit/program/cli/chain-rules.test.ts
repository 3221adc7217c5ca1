import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rulesAt, rulesOffline } from '../../../../src/program/cli/chain-rules.js'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { NodeClient } from '../../../../src/clients/client/node-client.js'
import { genesisBlock } from '../../../../src/base/primitives/genesis.js'
import { chainRules } from '../../../../src/clients/wallet/terms.js'
import { FakeNode } from '../../../support/fakes/fake-node.js'

describe('the rules of the chain that a command builds for', () => {
  let node: FakeNode
  let client: NodeClient
  beforeEach(async () => {
    node = new FakeNode()
    client = new NodeClient({ rest: await node.start() })
  })
  afterEach(() => node.stop())

  it('are those that the node tells', async () => {
    node.chain = loadSpec('localnet')
    node.mine()
    const told = await rulesAt(client, {})
    const expected = chainRules(loadSpec('localnet'), 1)
    expect(told).toMatchObject({ ...expected, assetId: new Uint8Array(expected.assetId) })
  })

  it('are those of --genesis where the node has that chain, and of no other', async () => {
    expect(await rulesAt(client, { genesis: 'devnet' })).toEqual(chainRules(loadSpec('devnet'), 0))
    await expect(rulesAt(client, { genesis: 'pow' })).rejects.toThrow(
      /has the chain devnet \(genesis block 8932a845[0-9a-f]+\), not pow as --genesis pow says/,
    )
    await expect(rulesAt(client, { genesis: 'nope' })).rejects.toThrow(/the chains that do: devnet, localnet, pow$/)
  })

  it('are those of a shipped chain where the node does not tell, by its genesis block', async () => {
    node.chain = null
    await expect(rulesAt(client, {})).rejects.toThrow(/does not tell which chain it has: name its spec with --genesis/)
    await expect(rulesAt(client, { genesis: 'pow' })).rejects.toThrow(/has another chain \(genesis block/)
    node.overrides.set('GET /api/v1/block/details/height/0', () => ({
      body: { Error: 0, Desc: 'Success', Result: { hash: genesisBlock(loadSpec('pow')).hash, height: 0, time: 1 } },
    }))
    expect(await rulesAt(client, {})).toEqual(chainRules(loadSpec('pow'), 0))
  })

  it('are those of the spec named offline, else of the devnet', () => {
    expect(rulesOffline({}).name).toBe('devnet')
    expect(rulesOffline({ genesis: 'pow' }, 7)).toMatchObject({ name: 'pow', height: 7 })
  })

  it('have to have the form of the interface', async () => {
    node.overrides.set('POST /rpc getchaininfo', () => ({ body: { jsonrpc: '2.0', id: 1, result: { name: 'x' } } }))
    await expect(rulesAt(client, {})).rejects.toThrow(/answered something unexpected/)
  })
})
