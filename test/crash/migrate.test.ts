import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { shellWord } from '../../src/program/cli/print-output.js'
import { Database } from '../../src/ledger/storage/database.js'
import { keys, oldestLayout, schemaVersion } from '../../src/ledger/storage/schema.js'
import { toOlderLayout } from '../support/builders/older-layout.js'
import { Load, SeededRandom } from '../support/builders/test-payer.js'
import { type ChainInfo, CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const directories = new Directories()
afterAll(() => directories.remove())

const dids = rounds(1200, 3000)

/** A stopped devnet in the oldest layout, with so many DIDs that the change of the layout takes a while, and the digest of its state. */
async function directoryBefore(): Promise<{ directory: string; state: string }> {
  const directory = directories.fresh()
  const node = await NodeProcess.start('devnet', '--no-automine', '--seed-dids', String(dids), '--data-dir', directory)
  await node.stop()
  const { state } = await runJson<ChainInfo>('chain', 'info', '--data-dir', directory)
  const database = await Database.open(join(directory, 'chain'))
  await toOlderLayout(database, 2)
  await database.close()
  return { directory, state }
}

async function layoutOf(directory: string): Promise<number | undefined> {
  const database = await Database.open(join(directory, 'chain'))
  const layout = database.get(keys.meta('version'))?.[0]
  await database.close()
  return layout
}

describe('a directory of an older layout', () => {
  it(`is changed by the next start, which may be killed at any moment (DIDLEDGER_SEED=${seed})`, async () => {
    const random = new SeededRandom(seed)
    const { directory, state } = await directoryBefore()
    expect(await layoutOf(directory)).toBe(oldestLayout)

    const refused = await run('devnet', '--no-migrate', '--data-dir', directory)
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain(
      `the database has layout ${oldestLayout}, this version of didledger reads layout ${schemaVersion}`,
    )
    expect(refused.err).toContain(`npx didledger chain reindex --data-dir ${shellWord(directory)}`)
    for (const command of ['info', 'verify']) {
      const { code, err } = await run('chain', command, '--data-dir', directory)
      expect([code, err]).toEqual([1, expect.stringContaining('a node changes it at its start') as string])
    }
    expect(await layoutOf(directory)).toBe(oldestLayout)

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
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'countdids', params: {} })
    expect(await (await fetch(node.line.rpc, { method: 'POST', body })).json()).toMatchObject({
      result: { total: dids },
    })
    expect((await node.stop()).code).toBe(0)
    expect(await layoutOf(directory)).toBe(schemaVersion)
    expect(await runJson('chain', 'verify', '--data-dir', directory)).toMatchObject({ state, ok: true })
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
    await toOlderLayout(database, 3)
    await database.close()
    const again = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
    for (const did of load.dids) expect((await again.client.resolve(did)).status).toBe(0)
    await again.stop()
    expect(await runJson('chain', 'verify', '--data-dir', directory)).toMatchObject({ state: before.state, ok: true })
  })
})
