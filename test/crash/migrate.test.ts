import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { addressOf, prefix, programHash } from '../../src/primitives/address.js'
import { concat, fromUtf8 } from '../../src/primitives/bytes.js'
import { sha256 } from '../../src/primitives/hash.js'
import { Database } from '../../src/storage/database.js'
import { Overlay } from '../../src/storage/overlay.js'
import { keys, layoutBefore, schemaVersion, values } from '../../src/storage/schema.js'
import { heldIndexRows, indexRowsOf } from '../support/assert/index-rows.js'
import { toLayoutBefore } from '../support/builders/layout-before.js'
import { Load, SeededRandom } from '../support/builders/test-payer.js'
import { type ChainInfo, CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const directories = new Directories()
afterAll(() => directories.remove())

const dids = 12_000
const programHashOf = (n: number) => programHash(prefix.did, fromUtf8(`${n}`))

/** The document of a DID; undefined where it is deactivated. */
function textOf(n: number): string | undefined {
  if (n % 50 === 7) return undefined
  const id = `did:ledger:${addressOf(programHashOf(n))}`
  const service = [{ id: `${id}#hub`, type: n % 3 === 0 ? 'Hub' : `Type-${n % 100}`, filler: 'x'.repeat(600) }]
  const publicKey = [{ id: `${id}#primary`, controller: id, publicKeyBase58: `key ${n}` }]
  return JSON.stringify({ id, publicKey, service, expires: '2030-01-01T00:00:00Z' })
}

const createOf = (n: number) => ({ height: 1 + Math.floor(n / 1000), index: 1 + (n % 1000) })

/** A stopped devnet in the layout before, with rows of so many DIDs that the change of the layout takes a while. */
async function directoryBefore(): Promise<string> {
  const directory = directories.fresh()
  const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
  await node.admin('dev_mine', { blocks: 3 })
  await node.stop()
  const database = await Database.open(join(directory, 'chain'))
  await toLayoutBefore(database)
  const overlay = new Overlay(database)
  for (let n = 0; n < dids; n++) {
    const [did, create, text] = [programHashOf(n), createOf(n), textOf(n)]
    const status = text === undefined ? ('deactivated' as const) : ('valid' as const)
    const head = values.didHead.encode({ status, operationCount: 1, documentSequence: 0, ordinal: 0 })
    overlay.put(keys.didHead(did), head.subarray(0, 9))
    const txid = sha256(concat(fromUtf8('transaction'), did))
    overlay.put(keys.didOperation(did, 0), values.didOperation.encode({ ...create, txid }))
    if (text !== undefined) overlay.put(keys.didDocument(create), fromUtf8(text))
  }
  const { hash, height } = values.tip.decode(database.get(keys.meta('tip')) as Buffer)
  await overlay.commit({ kind: 'header', hash, height }, { sync: true })
  await database.close()
  return directory
}

async function layoutOf(directory: string): Promise<number | undefined> {
  const database = await Database.open(join(directory, 'chain'))
  const layout = database.get(keys.meta('version'))?.[0]
  await database.close()
  return layout
}

describe('a directory of the layout before', () => {
  it(`is changed by the next start, which may be killed at any moment (DIDLEDGER_SEED=${seed})`, async () => {
    const random = new SeededRandom(seed)
    const directory = await directoryBefore()
    expect(await layoutOf(directory)).toBe(layoutBefore)

    const refused = await run('devnet', '--no-migrate', '--data-dir', directory)
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain(
      `the database has layout ${layoutBefore}, this version of didledger reads layout ${schemaVersion}`,
    )
    expect(refused.err).toContain(`npx didledger chain reindex --data-dir ${directory}`)
    for (const command of ['info', 'verify']) {
      const { code, err } = await run('chain', command, '--data-dir', directory)
      expect([code, err]).toEqual([1, expect.stringContaining('a node changes it at its start') as string])
    }
    expect(await layoutOf(directory)).toBe(layoutBefore)

    const start = ['devnet', '--no-automine', '--data-dir', directory, '--port-base', '0', '--json']
    let killed = 0
    for (let round = 0; round < rounds(4, 30); round++) {
      const command = new CommandProcess(start)
      while (!command.err.includes('the layout of the database is changed') && command.out === '') await sleep(1)
      await sleep(random.below(400))
      command.kill('SIGKILL')
      const { out, err } = await command.finished
      if (out !== '' || !err.includes('a stop does no harm')) break
      killed++
    }
    expect(killed).toBeGreaterThan(0)

    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'query', params: { service: 'Hub', limit: 1 } })
    const answer = (await (await fetch(node.line.rpc, { method: 'POST', body })).json()) as {
      result: { total: number }
    }
    const numbers = Array.from({ length: dids }, (_, n) => n)
    expect(answer.result.total).toBe(numbers.filter((n) => n % 3 === 0 && textOf(n) !== undefined).length)
    expect((await node.stop()).code).toBe(0)

    const database = await Database.open(join(directory, 'chain'))
    expect(database.get(keys.meta('version'))?.[0]).toBe(schemaVersion)
    const expected = indexRowsOf(numbers.map((n) => ({ create: createOf(n), text: textOf(n) })))
    expect((await heldIndexRows(database)) as object).toEqual(expected)
    for (const n of [0, 7, dids - 1]) {
      expect(values.didHead.decode(database.get(keys.didHead(programHashOf(n))) as Buffer).ordinal).toBe(n)
    }
    await database.close()
  })

  it('is right after the change: its blocks give the same rows', async () => {
    const directory = directories.fresh()
    const load = new Load(new SeededRandom(seed))
    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
    await load.prepare(node.client, 60)
    for (let block = 0; block < 3; block++) {
      await load.send(node.client, () => load.pending >= 60)
      await load.mine(node.client)
    }
    await node.stop()
    expect(load.dids.length).toBeGreaterThan(10)
    const before = await runJson<ChainInfo>('chain', 'info', '--data-dir', directory)
    const database = await Database.open(join(directory, 'chain'))
    await toLayoutBefore(database)
    await database.close()
    const again = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
    for (const did of load.dids) expect((await again.client.resolve(did)).status).toBe(0)
    await again.stop()
    expect(await runJson('chain', 'verify', '--data-dir', directory)).toMatchObject({ state: before.state, ok: true })
  })
})
