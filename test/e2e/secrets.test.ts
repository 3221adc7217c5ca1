import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { CommandProcess, Directories, NodeProcess } from '../support/process/spawn.js'

const directories = new Directories()
let node: NodeProcess | undefined
afterEach(async () => {
  await node?.stop('SIGKILL')
  node = undefined
})
afterAll(() => directories.remove())

describe('a data directory whose secrets others may read', () => {
  it('starts no node until chmod 600, and its token stops none', async () => {
    const dataDir = directories.fresh()
    const start = ['devnet', '--data-dir', dataDir]
    node = await NodeProcess.start(...start)
    await node.stop('SIGTERM')
    for (const [name, what] of [
      ['admin.token', 'admin token'],
      ['peer.key', 'peer key'],
    ] as const) {
      const file = join(dataDir, name)
      chmodSync(file, 0o644)
      const refused = await new CommandProcess([...start, '--port-base', '0']).finished
      expect(refused).toMatchObject({ code: 1, out: '' })
      expect(refused.err).toContain(`others may read the ${what} ${file}: run chmod 600 on it`)
      chmodSync(file, 0o600)
    }
    node = await NodeProcess.start(...start)
    const token = join(dataDir, 'admin.token')
    chmodSync(token, 0o640)
    for (const found of [
      ['--token-file', token],
      ['--data-dir', dataDir],
    ]) {
      const stop = await new CommandProcess(['node', 'stop', '--rest', node.line.rest, ...found]).finished
      expect(stop).toMatchObject({ code: 1, err: expect.stringContaining(`others may read the admin token ${token}`) })
    }
    chmodSync(token, 0o600)
    const stop = await new CommandProcess(['node', 'stop', '--rest', node.line.rest, '--data-dir', dataDir]).finished
    expect(stop).toMatchObject({ code: 0 })
  })
})
