import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Database } from '../../src/ledger/storage/database.js'
import { shellWord } from '../../src/program/cli/print-output.js'
import { Load, SeededRandom } from '../support/builders/test-payer.js'
import { filesUpTo } from '../support/process/limits.js'
import { type ChainInfo, CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** `chain backup`, of a node that works and of a directory that no node uses. */

const directories = new Directories()
afterAll(() => directories.remove())

const devnet = ['devnet', '--no-automine', '--data-dir'] as const
const verified = (directory: string) => runJson<ChainInfo>('chain', 'verify', '--data-dir', directory)

describe('a backup of a running node', () => {
  it('is a data directory with a moment of the chain, from which a node starts', { timeout: 600_000 }, async () => {
    const node = await NodeProcess.start(...devnet, directories.fresh())
    const load = new Load(new SeededRandom(5))
    await load.prepare(node.client, 40)
    let ended = false
    const sending = load.send(node.client, () => ended)
    const mining = (async () => {
      while (!ended) await load.mine(node.client)
    })()
    const before = await node.client.height()
    const copies = [directories.fresh('backup'), directories.fresh('backup')]
    const made: { height: number; tip: string }[] = []
    for (const copy of copies) {
      made.push(await runJson('chain', 'backup', copy, '--data-dir', node.line.dataDir, '--rest', node.line.rest))
    }
    ended = true
    await Promise.all([sending, mining])
    const after = await node.client.height()

    for (const [i, copy] of copies.entries()) {
      const { height, tip } = await verified(copy)
      expect({ height, tip }).toEqual({ height: made[i]?.height, tip: made[i]?.tip })
      expect(height).toBeGreaterThanOrEqual(before)
      expect(height).toBeLessThanOrEqual(after)
      expect(tip).toBe(await node.hashAt(height))
    }
    expect((await node.stop()).code).toBe(0)

    const copy = copies[0] as string
    const again = await NodeProcess.start(...devnet, copy)
    expect(await again.client.height()).toBe(made[0]?.height)
    await again.client.rpc('dev_mine', { blocks: 1 })
    expect(await again.stop()).toMatchObject({ code: 0, err: '' })
    expect((await verified(copy)).height).toBe((made[0]?.height as number) + 1)
  })

  it(
    'is that of the node at --rest where no directory is named, and the token goes to no other',
    { timeout: 600_000 },
    async () => {
      const node = await NodeProcess.start(...devnet, directories.fresh())
      await node.client.rpc('dev_mine', { blocks: 2 })
      const { dataDir, rest } = node.line
      const copy = directories.fresh('backup')
      expect(await runJson('chain', 'backup', copy, '--rest', rest)).toMatchObject({ path: copy, height: 2 })
      expect((await verified(copy)).height).toBe(2)
      const heard: (string | undefined)[] = []
      const other = createServer((request, response) => {
        heard.push(request.headers.authorization)
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { proof: '00'.repeat(32) } }))
      })
      await new Promise<void>((listens) => other.listen(0, '127.0.0.1', listens))
      const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
      const refused = await run('chain', 'backup', directories.fresh(), '--data-dir', dataDir, '--rest', elsewhere)
      other.close()
      expect([refused.code, new Set(heard)]).toEqual([1, new Set([undefined])])
      expect(refused.err).toContain('does not have the token of the node at')
      await node.stop()
    },
  )

  it('is refused in plain words', { timeout: 600_000 }, async () => {
    const node = await NodeProcess.start(...devnet, directories.fresh())
    const other = await NodeProcess.start(...devnet, directories.fresh())
    const { dataDir, rest } = node.line
    const refused = async (...args: string[]) => {
      const { code, out, err } = await run('chain', 'backup', ...args)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).not.toMatch(/\n\s+at |at .*\.js/)
      return err
    }
    const full = directories.fresh('full')
    mkdirSync(full)
    writeFileSync(join(full, 'precious'), '')
    expect(await refused(full, '--data-dir', dataDir, '--rest', rest)).toMatch(/is not empty; choose a new name/)
    expect(readdirSync(full)).toEqual(['precious'])
    const inside = join(dataDir, 'copy')
    expect(await refused(inside, '--data-dir', dataDir, '--rest', rest)).toMatch(/lies in the data directory/)
    const deep = join(directories.fresh(), 'deep')
    expect(await refused(deep, '--data-dir', dataDir, '--rest', rest)).toMatch(/there is no directory/)
    expect(await refused(directories.fresh(), '--data-dir', dataDir, '--rest', other.line.rest)).toMatch(
      /does not have the token of the node at .*: if the node of .* serves REST elsewhere, name that with --rest URL/,
    )
    await other.stop()
    expect(await refused(directories.fresh(), '--data-dir', dataDir, '--rest', other.line.rest)).toMatch(
      /no node listens at http.*; if the node of .* serves REST elsewhere/,
    )
    await node.stop()
  })

  it('of a killed node is left unfinished, and the next one removes that', { timeout: 600_000 }, async () => {
    const dataDir = directories.fresh()
    const node = await NodeProcess.start(...devnet, dataDir)
    await node.client.rpc('dev_mine', { blocks: 300 })
    const copy = directories.fresh('backup')
    const command = new CommandProcess(['chain', 'backup', copy, '--data-dir', dataDir, '--rest', node.line.rest])
    while (!existsSync(`${copy}.partial`) && !existsSync(copy)) await new Promise((resolve) => setTimeout(resolve, 1))
    await node.stop('SIGKILL')
    const { code } = await command.finished
    // It may have been complete already.
    expect(existsSync(copy)).toBe(existsSync(join(copy, 'chain')))
    if (existsSync(copy)) return void expect(code === 0 || !existsSync(`${copy}.partial`)).toBe(true)
    expect(code).toBe(1)
    expect(await runJson('chain', 'backup', copy, '--data-dir', dataDir)).toMatchObject({ height: 300 })
    expect(existsSync(`${copy}.partial`)).toBe(false)
    expect((await verified(copy)).height).toBe(300)
  })
})

describe('a backup of a directory that no node uses', () => {
  it('has the same state, and no secret', { timeout: 600_000 }, async () => {
    const dataDir = directories.fresh()
    const node = await NodeProcess.start(...devnet, dataDir)
    await runJson('did', 'create', '--devnet-account', '2', '--no-wait', '--rest', node.line.rest)
    await node.client.rpc('dev_mine', { blocks: 3 })
    await node.stop()
    const copy = directories.fresh('backup')
    const { code, out, err } = await run('chain', 'backup', copy, '--data-dir', dataDir)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      `${copy} holds the chain up to height 3, without keys, token and sign state\n` +
        `check it with: npx didledger chain verify --data-dir ${shellWord(copy)}\n`,
    )
    expect(readdirSync(copy).sort()).toEqual(['backup.json', 'chain', 'network.json', 'spec.json'])
    const info = (directory: string) => runJson<ChainInfo>('chain', 'info', '--data-dir', directory)
    expect(await info(copy)).toEqual(await info(dataDir))
  })

  it('ends with the words of the system, and leaves nothing', { timeout: 600_000 }, async () => {
    const dataDir = directories.fresh()
    const node = await NodeProcess.start(...devnet, dataDir)
    await node.client.rpc('dev_mine', { blocks: 500 })
    await node.stop()
    const copy = directories.fresh('backup')
    const command = new CommandProcess(['chain', 'backup', copy, '--data-dir', dataDir], {
      through: filesUpTo(64),
    })
    const { code, out, err } = await command.finished
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^error: the backup .* cannot be written: a file may not become as large .*ulimit -f/)
    expect([existsSync(copy), existsSync(`${copy}.partial`)]).toEqual([false, false])
    expect((await verified(dataDir)).height).toBe(500)
  })

  it('waits for no command that uses the directory, and names it', { timeout: 600_000 }, async () => {
    const dataDir = directories.fresh()
    await (await NodeProcess.start(...devnet, dataDir)).stop()
    const database = await Database.open(join(dataDir, 'chain'))
    const { code, err } = await run('chain', 'backup', directories.fresh('backup'), '--data-dir', dataDir)
    await database.close()
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^error: another process is using .*chain/) })
  })

  it('needs a chain', async () => {
    const { code, err } = await run('chain', 'backup', directories.fresh(), '--data-dir', directories.fresh())
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('holds no chain') as string })
  })
})
