import { existsSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exportBlocks } from '../../src/ledger/chain/block-file.js'
import { prunedAtOnce } from '../../src/ledger/chain/prune-chain.js'
import { leastKeptDocuments } from '../../src/ledger/storage/rows/prune-rows.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import { holder } from '../support/builders/did.js'
import { testSpec } from '../support/builders/spec.js'
import { until } from '../support/network/test-network.js'
import { Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** A node that gives up superseded documents, from its option to what its directory is good for afterwards. */

const directories = new Directories()
const genesis = directories.fresh('genesis.json')
const blocks = directories.fresh('blocks')
const dataDir = directories.fresh('pruned')
const spec = { maturity: 2, ...withoutValidators }
const person = holder()
const txids: string[] = []
const height = leastKeptDocuments + prunedAtOnce
const start = ['start', '--genesis', genesis, '--data-dir', dataDir, '--p2p-host', '127.0.0.1'] as const

beforeAll(async () => {
  const source = await TestChain.open(spec)
  txids.push(await source.publish(person.create(), person.did))
  for (let i = 0; i < 3; i++) txids.push(await source.publish(person.update(txids[i] as string), person.did))
  await source.mine(height - source.reader.height)
  const pieces: Uint8Array[] = []
  for await (const piece of exportBlocks(source.chain)) pieces.push(piece)
  await source.close()
  writeFileSync(blocks, Buffer.concat(pieces))
  writeFileSync(genesis, testSpec(spec))
  await runJson('chain', 'import', blocks, '--data-dir', dataDir, '--genesis', genesis)
})
afterAll(() => directories.remove())

it('gives up documents, has them given up after a kill and without the option, and tells what its directory cannot do any more', async () => {
  const state = await runJson<{ state: string }>('chain', 'info', '--data-dir', dataDir)
  let node = await NodeProcess.start(...start, '--prune-documents', String(leastKeptDocuments))
  const superseded = async () => {
    return ((await node.client.rpc('getchaininfo', {})) as { superseded?: number }).superseded ?? 0
  }
  await until('documents given up', 20, async () =>
    (await superseded()) === prunedAtOnce ? true : String(await superseded()),
  )
  await node.stop('SIGKILL')
  // Its chain ended long ago, so that it is out of step.
  node = await NodeProcess.start(...start, '--answer-out-of-step')
  expect(await superseded()).toBe(prunedAtOnce)
  const history = await run('did', 'history', person.did, '--rest', node.line.rest)
  expect(history.code).toBe(0)
  expect(history.out).toMatch(/The node gave up these transactions, since later ones superseded their documents:/)
  for (const txid of txids) expect(history.out).toContain(txid)
  expect(await node.client.rpc('resolvedid', { did: person.did, all: false })).toMatchObject({
    transaction: [{ txid: txids[3] }],
  })
  for (const path of [`transaction/${txids[1]}`, 'block/details/height/2']) {
    expect((await node.get(path)).body).toMatchObject({ Error: 44003 })
  }
  for (const path of [`transaction/${txids[3]}`, 'block/details/height/4', 'block/details/height/5']) {
    expect((await node.get(path)).body).toMatchObject({ Error: 0 })
  }
  expect((await node.get('node/state')).body.Result).toMatchObject({ Services: 2 })
  const status = await run('node', 'status', '--rest', node.line.rest)
  expect(status.out).toContain(`those superseded up to height ${prunedAtOnce} were given up`)
  await node.stop()

  expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toEqual({
    height,
    tip: expect.any(String) as string,
    state: state.state,
    superseded: prunedAtOnce,
    ok: true,
  })
  for (const command of [['reindex'], ['export', directories.fresh('copy')]]) {
    const { code, out, err } = await run('chain', ...command, '--data-dir', dataDir)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^error: the chain is pruned: the documents superseded up to height 64 have been given up/)
  }
  const backup = directories.fresh('backup')
  expect((await run('chain', 'backup', backup, '--data-dir', dataDir)).code).toBe(0)
  for (const directory of [dataDir, backup]) {
    expect(await runJson('chain', 'info', '--data-dir', directory)).toEqual(state)
  }
})

it('is refused in plain words for a devnet, and for fewer blocks than a reorganisation needs', async () => {
  const nowhere = directories.fresh('nowhere')
  const devnet = await run('start', '--genesis', 'devnet', '--data-dir', nowhere, '--prune-documents', '1000')
  expect(existsSync(nowhere)).toBe(false)
  expect(devnet).toMatchObject({ code: 2, err: 'error: a devnet does not prune: it goes back to any of its blocks\n' })
  const few = await run(...start, '--prune-documents', '287')
  expect(few.code).toBe(2)
  expect(few.err).toMatch(/--prune-documents.*288/)
})
