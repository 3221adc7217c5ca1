import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

/** What `chain state check --json` prints, as far as it is compared. */
interface Checked {
  readonly height: number
  readonly dids: number
  readonly ok: boolean
}

describe('chain state', () => {
  it('writes what the chain has, which is checked without it', { timeout: 600_000 }, async () => {
    const dataDir = directories.fresh()
    const file = `${directories.fresh('state')}.dls`
    const node = await NodeProcess.start('devnet', '--no-automine', '--seed-dids', '20', '--data-dir', dataDir)
    const write = () => run('chain', 'state', 'write', file, '--data-dir', dataDir)
    await node.client.rpc('dev_mine', { blocks: 287 - (await node.client.height()) })
    await node.stop()
    const early = await write()
    expect(early).toMatchObject({ code: 1, out: '' })
    expect(early.err).toContain('the first block that commits to coins is 288, and the chain ends at height 287')
    const again = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    for (let left = 300; left > 0; left -= 100) await again.client.rpc('dev_mine', { blocks: 100 })
    const used = await write()
    expect(used).toMatchObject({ code: 1 })
    expect(used.err).toContain('another process is using')
    await again.stop()
    expect(await write()).toMatchObject({
      code: 0,
      err: '',
      out: `wrote the state after block 288 to ${file}; block 576 commits to its coins\n`,
    })
    expect(await runJson<Checked>('chain', 'state', 'check', file)).toMatchObject({ height: 288, dids: 20, ok: true })

    const other = await run('chain', 'state', 'check', file, '--genesis', 'localnet')
    expect(other.err).toContain(`error: ${file}: part head 0: it is of another chain`)
    const bytes = readFileSync(file)
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(file, bytes)
    const changed = await run('chain', 'state', 'check', file)
    expect(changed).toMatchObject({ code: 1, out: '' })
    expect(changed.err).toMatch(/^error: .*\.dls: (part|the list)/)
    writeFileSync(file, bytes.subarray(0, 5000))
    expect((await run('chain', 'state', 'check', file)).err).toContain('it ends too early')
    writeFileSync(file, 'text')
    expect((await run('chain', 'state', 'check', file)).err).toContain('it is no file of a state')
  })
})
