import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { type ChainInfo, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** A node whose disk really becomes full. It must run in namespaces that it may change (`unshare --net --mount`). */

const kibibyte = 1024
const fullDisk = /the database .*: the disk is full \(.*No space left on device\); free some space, then start again/

let disk: string
let directories: Directories
beforeEach(() => {
  directories = new Directories()
  disk = directories.fresh('disk')
  mkdirSync(disk)
  execFileSync('ip', ['link', 'set', 'lo', 'up'])
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk])
})
afterEach(() => {
  // Lazily: where a test failed its node may not have ended yet.
  execFileSync('umount', ['--lazy', disk])
  directories.remove()
})

/** Leaves so many bytes free, by a file that has the rest; returns its path. */
function fill(free: number): string {
  const { bavail, bsize } = statfsSync(disk)
  const path = join(disk, 'ballast')
  writeFileSync(path, new Uint8Array(bavail * bsize - free))
  return path
}

/** Makes blocks and payments until the node fails; returns the last height that it has answered. */
async function workUntilFull({ client, process: { finished } }: NodeProcess, blocks: number): Promise<number> {
  let height = 0
  for (;;) {
    const { address } = devnetAccount(height % 10)
    const made = client
      .rpc('dev_faucet', { address, amount: '1' })
      .then(() => client.rpc('dev_mine', { blocks }) as Promise<string[]>)
    const hashes = await made.catch((error: unknown) => String(error))
    if (typeof hashes === 'string') {
      // The call in which the disk became full ends before the node does, or with it.
      expect(hashes).toMatch(
        /cannot be written: the disk is full, so the node takes nothing more|does not answer|cannot be reached|is not serving|ended|stopp/,
      )
      await finished
      return height
    }
    height += hashes.length
  }
}

// The log of the database takes 4 MB before a table is written; on a slow machine the next log may need room before the table.
it.each([
  [60, 1, /\.log: No space left/],
  [9000, 1000, /\.(ldb|log): No space left/],
])(
  'with %d KiB left the node stops in plain words, and nothing that it has answered is lost',
  async (free, blocks, place) => {
    const dataDir = join(disk, 'data')
    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir, '-q')
    const ballast = fill(free * kibibyte)
    const height = await workUntilFull(node, blocks)
    const { code, err } = await node.process.finished
    expect([code, err]).toEqual([1, expect.stringMatching(fullDisk)])
    expect(err).toMatch(place)
    expect(err).not.toMatch(/^\s+at |\.js:\d/m)

    // It says so again, or has enough to start with, but it never calls that damage.
    const [again, checked] = [
      await run('chain', 'info', '--data-dir', dataDir),
      await run('chain', 'verify', '--data-dir', dataDir),
    ]
    for (const { code: exit, err: said } of [again, checked]) expect(exit === 0 || fullDisk.test(said)).toBe(true)

    rmSync(ballast)
    // Every block is connected anew in a second database beside the first.
    const verified = await runJson<ChainInfo>('chain', 'verify', '--data-dir', dataDir)
    expect(verified.height).toBeGreaterThanOrEqual(height)
    const after = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    expect(after.line.height).toBe(verified.height)
    await after.client.rpc('dev_mine', { blocks: 2 })
    expect((await after.stop()).code).toBe(0)
  },
)
