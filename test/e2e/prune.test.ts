import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prunedAtOnce } from '../../src/ledger/chain/prune-chain.js'
import { leastKept } from '../../src/ledger/storage/rows/prune-rows.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import { holder } from '../support/builders/did.js'
import { until } from '../support/network/test-network.js'
import { importChain } from '../support/process/import-chain.js'
import { Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** A node that prunes, from its option to what its directory is good for afterwards. */

const directories = new Directories()
const genesis = directories.fresh('genesis.json')
const dataDir = directories.fresh('pruned')
const spec = { maturity: 2, ...withoutValidators }
const person = holder()
const height = leastKept + prunedAtOnce
const start = ['start', '--genesis', genesis, '--data-dir', dataDir, '--p2p-host', '127.0.0.1'] as const

beforeAll(async () => {
  const source = await TestChain.open(spec)
  await source.publish(person.create(), person.did)
  await source.mine(height - 1)
  await importChain(source, directories, { genesis, dataDir })
})
afterAll(() => directories.remove())

it('prunes, serves what it kept after a kill too, and tells what its directory cannot do any more', async () => {
  const state = await runJson<{ state: string }>('chain', 'info', '--data-dir', dataDir)
  let node = await NodeProcess.start(...start, '--prune', String(leastKept))
  const pruned = async () => ((await node.client.rpc('getchaininfo', {})) as { pruned?: number }).pruned ?? 0
  await until('pruned blocks', 20, async () => ((await pruned()) === prunedAtOnce ? true : String(await pruned())))
  await node.stop('SIGKILL')
  // Without the option it has what it has. Its chain ended long ago, so that it is out of step.
  node = await NodeProcess.start(...start, '--answer-out-of-step')
  expect(await pruned()).toBe(prunedAtOnce)
  expect(await node.client.rpc('resolvedid', { did: person.did, all: true })).toMatchObject({ status: 0 })
  expect((await node.get(`block/details/height/${prunedAtOnce}`)).body).toMatchObject({ Error: 44003 })
  expect((await node.get(`block/details/height/${prunedAtOnce + 1}`)).body).toMatchObject({ Error: 0 })
  expect((await node.get('node/state')).body.Result).toMatchObject({ Services: 2 })
  await node.stop()

  expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toEqual({
    height,
    tip: expect.any(String) as string,
    state: state.state,
    pruned: prunedAtOnce,
    ok: true,
  })
  for (const command of [['reindex'], ['export', directories.fresh('copy')]]) {
    const { code, out, err } = await run('chain', ...command, '--data-dir', dataDir)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^error: the chain is pruned: blocks 1 to 64 have given up their transactions/)
  }
  expect(await runJson('chain', 'info', '--data-dir', dataDir)).toEqual(state)
})

it('is refused in plain words for a devnet, and for fewer blocks than a reorganisation needs', async () => {
  const nowhere = directories.fresh('nowhere')
  const devnet = await run('start', '--genesis', 'devnet', '--data-dir', nowhere, '--prune', '1000')
  expect(existsSync(nowhere)).toBe(false)
  expect(devnet).toMatchObject({ code: 2, err: 'error: a devnet does not prune: it goes back to any of its blocks\n' })
  const few = await run(...start, '--prune', '999')
  expect(few.code).toBe(2)
  expect(few.err).toMatch(/--prune.*1000/)
})
