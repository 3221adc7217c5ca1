import { afterEach, describe, expect, it, vi } from 'vitest'
import { allOptions, nameOf, sectionOf } from '../../../../src/node/config/all-options.js'
import { fromText } from '../../../../src/node/config/values.js'
import { createNode, type CreateNodeOptions, type LedgerNode } from '../../../../src/index.js'
import { readTuning } from '../../../../src/node/library/tuning-options.js'
import { Mempool } from '../../../../src/ledger/mempool/mempool.js'
import { Network } from '../../../../src/network/network.js'
import { optionsToNode } from '../../../../src/node/options-to-node.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { configOf, samples } from '../../../support/builders/config.js'

let open: LedgerNode[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(open.map((node) => node.close()))
  open = []
})

async function start(options: CreateNodeOptions): Promise<LedgerNode> {
  const node = await createNode(options)
  open.push(node)
  return node
}

const untuned = optionsToNode(() => undefined)

describe('tuning of createNode', () => {
  it('arrives in the rooms, beside the other options', async () => {
    const [pool, network, database] = [Mempool, Network, Database].map((room) => vi.spyOn(room, 'open'))
    await start({
      network: 'pow',
      listen: { port: 0, hosts: ['127.0.0.1'] },
      tuning: { mempool: { size: 8_000_000 }, network: { inbound: 3 }, storage: { cacheSize: 1 << 20 } },
    })
    const limits = { poolSize: 8_000_000 }
    expect(pool?.mock.lastCall?.[0]).toMatchObject({ limits })
    const settings = { hosts: ['127.0.0.1'], inbound: 3, outbound: 8 }
    expect(network?.mock.lastCall?.[0]).toMatchObject({ settings })
    expect(database?.mock.lastCall?.[1]).toBe(1 << 20)
  })

  it('arrives in the interfaces', async () => {
    const node = await start({ network: 'devnet', api: { portBase: 0 }, tuning: { api: { batch: 2 } } })
    const ask = async (calls: number) => {
      const body = JSON.stringify(new Array(calls).fill({ method: 'getblockcount', id: 1, params: {} }))
      return (await fetch(node.api?.rpc ?? '', { method: 'POST', body })).json()
    }
    expect(await ask(2)).toHaveLength(2)
    expect(await ask(3)).toMatchObject({ error: { code: -32600 } })
  })

  const tuning = allOptions.filter((option) => option.tuning)

  it.each(tuning.map((option) => [option.key, option] as const))(
    'takes and refuses %s as the command',
    (key, option) => {
      const { accepted, refused } = samples[key]
      const given = (text: string) => ({ [sectionOf(option)]: { [nameOf(option)]: fromText(option, text) } })
      const [command] = option.commands ?? ['start']
      const { tuning: set } = configOf(JSON.stringify(given(accepted)), { command })
      expect(set).toMatchObject(readTuning(given(accepted)))
      expect(readTuning(given(accepted))).not.toEqual(untuned)
      expect(() => readTuning(given(refused))).toThrow(`tuning: ${key} is not ${option.expects}: `)
    },
  )

  it.each<[unknown, string]>([
    [null, 'tuning: an object of options is needed'],
    [{ mempool: 5 }, 'tuning.mempool: an object of options is needed'],
    [
      { mempool: { size: '9000000' } },
      'tuning: mempool.size is not a number of bytes from 8000000 to 4294967296: "9000000"',
    ],
    [{ mempool: { size: null } }, 'tuning: mempool.size is not a number of bytes from 8000000 to 4294967296: null'],
    [{ mempool: { sise: 1 } }, 'sise is no option of tuning.mempool; there are size, '],
    [{ network: { hosts: ['::1'] } }, 'hosts is no option of tuning.network; there are outbound, '],
    [{ node: {} }, 'node is no option of tuning; there are storage, '],
  ])('refuses %j', async (given, message) => {
    const options = { network: 'devnet', tuning: given }
    await expect(createNode(options as CreateNodeOptions)).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringContaining(message) as string,
    })
  })

  it('sets nothing where nothing is given', () => {
    expect(readTuning({})).toEqual(untuned)
    expect(readTuning({ mempool: {}, crypto: undefined, resolver: { cacheSize: undefined } })).toEqual(untuned)
  })
})
