import { afterAll, describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/clients/client/http.js'
import { SeededRandom, Load } from '../support/builders/test-payer.js'
import { filesUpTo } from '../support/process/limits.js'
import { CommandProcess, Directories, NodeProcess, runJson, type ChainInfo } from '../support/process/spawn.js'

/** What the system refuses a node while it starts and while it runs. */

const directories = new Directories()
afterAll(() => directories.remove())

const devnet = ['devnet', '--no-automine', '--data-dir'] as const
/** Runs the program with a limit on the size of its files, in KiB. */
const fileLimit = (kibibytes: number) => ({
  through: filesUpTo(kibibytes),
})

describe('a node that may write no more', () => {
  it('says so at its start and ends', { timeout: 600_000 }, async () => {
    const command = new CommandProcess([...devnet, directories.fresh(), '--port-base', '0'], fileLimit(1))
    const { code, signal, out, err } = await command.finished
    expect({ code, signal, out }).toEqual({ code: 1, signal: null, out: '' })
    expect(err).toMatch(/cannot be written: a file may not become as large \(.*\); raise the limit .*ulimit -f/)
    expect(err).not.toMatch(/\n\s+at |should not have|reindex/)
  })

  it('ends in the midst of its work and has kept all that it acknowledged', { timeout: 600_000 }, async () => {
    const directory = directories.fresh()
    const load = new Load(new SeededRandom(3))
    const node = await NodeProcess.startWith(fileLimit(256), ...devnet, directory)
    await load.prepare(node.client, 60)
    let ended = false
    const finished = node.process.finished.finally(() => (ended = true))
    // Blocks too: their batches are the long ones.
    const sending = load
      .send(node.client, () => ended)
      .catch((error: unknown) => {
        // The answer to what could not be written; it acknowledges nothing.
        if (!(error instanceof NodeRefusal)) throw error
      })
    while (!ended) await load.mine(node.client).catch(() => {})
    const { code, signal, err } = await finished
    await sending
    expect({ code, signal }).toEqual({ code: 1, signal: null })
    expect(err).toMatch(
      /"message": "the database cannot be written: a file may not become as large .*File too large.*ulimit -f/,
    )
    expect(err).not.toMatch(/\n\s+at |at .*\.js|should not have|reindex/)

    const again = await NodeProcess.start(...devnet, directory)
    expect(load.acknowledged.size).toBeGreaterThan(20)
    for (const txid of load.acknowledged) {
      const { body } = await again.get(`transaction/${txid}`)
      if (body.Error !== 0) expect(String(body.Result), txid).toContain('it left the pool unmined')
    }
    expect((await again.stop()).code).toBe(0)
    const info = await runJson<ChainInfo>('chain', 'verify', '--data-dir', directory)
    expect(info.height).toBeGreaterThan(0)
  })
})
