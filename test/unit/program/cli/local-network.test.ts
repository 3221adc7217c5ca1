import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LocalNetwork } from '../../../../src/program/cli/local-network.js'

/** What runs instead of a node: it notes its arguments, says that it serves, and stops as it is told, or not at all. */
const standIn = `
import { mkdirSync, writeFileSync } from 'node:fs'
const args = process.argv.slice(2)
const dataDir = args[args.indexOf('--data-dir') + 1]
mkdirSync(dataDir, { recursive: true })
writeFileSync(dataDir + '/args', args.join(' '))
writeFileSync(dataDir + '/pid', String(process.pid))
console.log(JSON.stringify({ p2p: [] }))
process.stdin.resume()
if (process.env.STUBBORN === 'yes') setInterval(() => {}, 1000)
`

const program = process.argv[1] as string
const execArgv = process.execArgv
let directory: string
let network: LocalNetwork | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'didledger-local-network-'))
  writeFileSync(join(directory, 'node.mjs'), standIn)
  process.argv[1] = join(directory, 'node.mjs')
  process.execArgv = []
})
afterEach(async () => {
  vi.useRealTimers()
  network?.kill()
  await network?.close()
  process.argv[1] = program
  process.execArgv = execArgv
  rmSync(directory, { recursive: true, force: true })
})

async function start(nodes: number, env: NodeJS.ProcessEnv = {}): Promise<LocalNetwork> {
  network = new LocalNetwork({ nodes, directory, portBase: 0, env: { ...process.env, ...env } })
  await network.start()
  return network
}

const noted = (number: number, what: 'args' | 'pid') => readFileSync(join(directory, `node-${number}`, what), 'utf8')
/** Numbers of the nodes that may vote without a note of what they signed. */
const withoutNote = (nodes: number) =>
  Array.from({ length: nodes }, (_, i) => i + 1).filter((number) =>
    noted(number, 'args').includes('--reset-sign-state=now'),
  )

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the nodes of a local network', () => {
  it('need no note of what they signed where neither they nor their keys were here before', async () => {
    await (await start(2)).close()
    expect(withoutNote(2)).toEqual([1, 2])
    // One that comes later is as new as the others were, and one whose directory is lost is not.
    rmSync(join(directory, 'node-2'), { recursive: true })
    mkdirSync(join(directory, 'node-4'))
    await (await start(4)).close()
    expect(withoutNote(4)).toEqual([3])
    expect(existsSync(join(directory, 'validator-3.key'))).toBe(true)
  })

  it('report that they have started, and that they are ready', async () => {
    network = new LocalNetwork({ nodes: 2, directory, portBase: 0, env: process.env })
    const states: string[] = []
    network.onProgress = (number, state) => void states.push(`${number} ${state}`)
    await network.start()
    expect(states).toEqual(['1 started', '1 ready', '2 started', '2 ready'])
  })

  it('are named when they take their time to stop, and can be ended at once', async () => {
    const slow = await start(2, { STUBBORN: 'yes' })
    const pids = [1, 2].map((number) => Number(noted(number, 'pid')))
    expect(pids.map(runs)).toEqual([true, true])
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const told = vi.fn()
    slow.onSlowStop = told
    const stopped = slow.close()
    await vi.advanceTimersByTimeAsync(1_900)
    expect(told).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(200)
    expect(told.mock.calls).toEqual([[[1, 2]]])
    slow.kill()
    await stopped
    expect(pids.map(runs)).toEqual([false, false])
  })
})
