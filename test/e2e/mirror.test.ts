import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { MirrorHead } from '../../src/identity/proofs/mirror-head.js'
import { TestNetwork, until } from '../support/network/test-network.js'
import { CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** Mirrors as processes: written by a devnet, from a directory, by a follower; read by a light resolver that asks no node. */

const directories = new Directories()
const did = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
const commands: CommandProcess[] = []
afterAll(() => {
  for (const command of commands) command.kill('SIGKILL')
  directories.remove()
})

/** Waits until the head of a mirror is above a height. */
const headAbove = (folder: string, height: number) =>
  until(`a head above ${height}`, 60, async () => {
    const at = existsSync(join(folder, 'head')) ? headOf(folder).height : -1
    return at > height ? true : `the head is at ${at}`
  })

const headOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'head'), 'utf8')) as MirrorHead

/** Starts a command that serves, and returns what it says with --json. */
async function started<T = { listens: string[] }>(...args: string[]): Promise<T> {
  const command = new CommandProcess([...args, '--json'])
  commands.push(command)
  const line = await command.firstLine()
  expect(line, command.err).toBeDefined()
  return JSON.parse(line as string) as T
}

/** A light resolver that knows the files in a folder alone. */
async function lightOver(
  folder: string,
  trust: string,
): Promise<(asked: string) => Promise<{ status: number; text: string }>> {
  const files = await started('serve-static', folder, '--port', '0')
  const light = await started('light', '--mirror', files.listens[0] as string, '--trust', trust, '--port', '0')
  return async (asked) => {
    const answer = await fetch(`${light.listens[0]}/1.0/identifiers/${asked}`)
    return { status: answer.status, text: await answer.text() }
  }
}

describe('a devnet with a mirror', () => {
  it('writes each block into files by which a DID is resolved without it, also after it was killed', async () => {
    const [folder, data] = [directories.fresh('mirror'), directories.fresh('data')]
    const start = () => NodeProcess.start('devnet', '--data-dir', data, '--mirror', folder)
    let node = await start()
    await runJson('did', 'create', '--devnet-account', '0', '--rest', node.line.rest)
    await headAbove(folder, 0)
    const resolve = await lightOver(folder, 'devnet')
    expect(await resolve(did)).toMatchObject({ status: 200, text: expect.stringContaining(did) })
    expect((await resolve('did:ledger:iYPnCBXuuqKm7AqCfmrRqiDj7ZWyYY5N46')).status).toBe(404)
    await node.stop('SIGKILL')
    expect(await resolve(did)).toMatchObject({ status: 200 })
    node = await start()
    const { height } = headOf(folder)
    await runJson('did', 'create', '--devnet-account', '1', '--rest', node.line.rest)
    await headAbove(folder, height)
    // A second writer would delete what the first one names.
    const second = await run('mirror', '--to', folder, '--data-dir', data, '--once')
    expect(second.code).toBe(1)
    await node.stop('SIGTERM')

    const other = directories.fresh('other')
    const written = await runJson<{ height: number; files: number }>(
      'mirror',
      '--to',
      other,
      '--data-dir',
      data,
      '--once',
    )
    expect(written).toMatchObject({ height: headOf(folder).height, to: other })
    const { written: _, ...head } = headOf(other)
    expect(headOf(folder)).toMatchObject(head)
    expect(statSync(join(other, 'about')).size).toBeGreaterThan(0)
    const again = await runJson<{ height: number; files: number }>(
      'mirror',
      '--to',
      other,
      '--data-dir',
      data,
      '--once',
    )
    expect(again).toMatchObject({ height: written.height, files: 0 })
  })

  it('is refused with what is wrong', async () => {
    const data = directories.fresh('refused')
    for (const [args, code, text] of [
      [['--data-dir', data], 2, '--to <target>'],
      [['--to', directories.fresh('a')], 2, 'where is the chain? Give --data-dir or --genesis'],
      [['--to', directories.fresh('a'), '--data-dir', data], 2, 'does not tell which chain it holds'],
      [['--to', 'ftp://host/x', '--genesis', 'localnet', '--data-dir', data], 1, 'holds no chain'],
      [['--to', 'x', '--genesis', 'devnet', '--node', 'http://127.0.0.1:9'], 2, 'is a devnet, which has one node'],
      [['--to', 'x', '--node', 'http://'], 2, 'http://'],
      [['--to', 'x', '--data-dir', data, '--versions', 'some'], 2, 'latest'],
      [['--to', 'x', '--data-dir', data, '--keep', '-1'], 2, '-1'],
    ] as const) {
      const finished = await run('mirror', ...args)
      expect([args, finished.code, finished.out]).toEqual([args, code, ''])
      expect(finished.err).toContain(text)
    }
  })

  it('is named in what a reader says of an address at which there is none', async () => {
    for (const [url, code, text] of [
      [
        'http://a..b',
        2,
        '--mirror http://a..b: there is no host of the name a..b; see whether the address is mistyped',
      ],
      ['./mirror', 2, './mirror: a mirror is read at the http or https URL of the server that shows its files'],
      ['s3://bucket/ledger', 2, 's3://bucket/ledger: a mirror is read at the http or https URL'],
    ] as const) {
      const finished = await run('light', '--mirror', url, '--trust', 'devnet', '--port', '0')
      expect([url, finished.code, finished.out]).toEqual([url, code, ''])
      expect(finished.err).toContain(text)
    }
  })
})

describe('a network', () => {
  it('is mirrored by a follower that checks all blocks, and serves nothing itself', async () => {
    const network = await TestNetwork.open(directories, 3)
    try {
      const { rest } = network.at(0).node.line
      const folder = directories.fresh('followed')
      const args = ['--genesis', network.genesis, '--data-dir', directories.fresh('follower')]
      const follower = new CommandProcess(['mirror', '--to', folder, '--node', rest, ...args, '--json'])
      commands.push(follower)
      expect(JSON.parse((await follower.firstLine()) ?? 'null')).toMatchObject({ to: folder, node: rest })
      await headAbove(folder, 0)
      const { height } = headOf(folder)
      await headAbove(folder, height)
      follower.kill('SIGTERM')
      expect(await follower.finished).toMatchObject({ code: 0, signal: null })
      const once = await run('mirror', '--to', folder, '--node', rest, ...args, '--once')
      expect([once.code, once.err]).toEqual([0, ''])
      await network.close()
      const gone = await run('mirror', '--to', folder, '--node', rest, ...args, '--once')
      expect([gone.code, gone.out]).toEqual([1, ''])
      expect(gone.err).toContain(`error: no node listens at ${rest}; see whether the node runs`)
    } finally {
      await network.close()
    }
  })
})
