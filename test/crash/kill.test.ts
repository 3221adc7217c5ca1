import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { SeededRandom, Load } from '../support/builders/test-payer.js'
import { type ChainInfo, CommandProcess, Directories, NodeProcess, runJson } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'

const kills = rounds(4, 20)
const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)

const directories = new Directories()
afterAll(() => directories.remove())

describe('a devnet that is killed again and again', () => {
  const dataDir = directories.fresh()
  const random = new SeededRandom(seed)
  const load = new Load(random)
  /** Transactions that were seen on the chain after a kill. */
  const mined = new Set<string>()
  const dropped = new Set<string>()
  const blocks = new Map<number, string>()
  let killedStarting = 0

  const start = () => NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)

  it(`keeps every promise over ${kills} kills under load (DIDLEDGER_SEED=${seed})`, async () => {
    let node = await start()
    await load.prepare(node.client, 300)
    let checking: Promise<void> = Promise.resolve()
    for (let round = 1; round <= kills; round++) {
      await killUnderLoad(node)
      await checking
      const copy = directories.copyOf(dataDir)
      if (round % 4 === 0) await killWhileStarting()
      node = await start()
      const { height } = node.line
      const tip = await node.hashAt(height)
      await checkAcknowledged(node)
      await load.settle(node.client)
      // Beside the next round, for it takes a while.
      checking = checkReplay(copy, { height, tip })
      if (round % 3 === 0) await load.mine(node.client)
    }
    await checking
    await load.mine(node.client)
    mined.clear()
    await checkAcknowledged(node)
    expect({ waiting: load.pending, mined: mined.size }).toEqual({
      waiting: 0,
      mined: load.acknowledged.size - dropped.size,
    })
    for (const did of load.dids) expect((await node.client.resolve(did)).status, did).toBe(0)
    expect((await node.stop()).code).toBe(0)
    expect(killedStarting).toBeGreaterThan(0)
    expect(mined.size).toBeGreaterThan(25 * kills)
  })

  /** At a random moment with a hundred transactions or more waiting; in every other round about when a block is made. */
  async function killUnderLoad(node: NodeProcess): Promise<void> {
    const { client } = node
    let stopped = false
    const sending = load.send(client, () => stopped)
    while (load.pending < 100) await sleep(5)
    const moment = random.below(300)
    const mineAt = random.below(2) === 0 ? random.below(moment + 1) : undefined
    const mining = mineAt === undefined ? undefined : sleep(mineAt).then(() => minePart(node))
    await sleep(moment)
    if (mineAt === undefined) expect(load.pending).toBeGreaterThanOrEqual(100)
    const end = await node.stop('SIGKILL')
    expect(end.signal).toBe('SIGKILL')
    stopped = true
    await Promise.all([sending, mining])
  }

  /** A block, if the node lives long enough to answer. */
  async function minePart({ client }: NodeProcess): Promise<void> {
    try {
      const hash = await load.mine(client)
      blocks.set((await client.blockByHash(hash)).height, hash)
    } catch {
      // It was killed: what became of the block is found out after the restart.
    }
  }

  /** Kills a node that has opened its database and does not serve yet. */
  async function killWhileStarting(): Promise<void> {
    const log = join(dataDir, 'chain', 'LOG')
    const before = statSync(log).ino
    const command = new CommandProcess(['devnet', '--no-automine', '--data-dir', dataDir, '--port-base', '0', '--json'])
    while (statSync(log, { throwIfNoEntry: false })?.ino === before) await sleep(1)
    await sleep(random.below(40))
    command.kill('SIGKILL')
    const { signal, out } = await command.finished
    if (signal === 'SIGKILL' && out === '') killedStarting++
  }

  async function checkAcknowledged(node: NodeProcess): Promise<void> {
    load.pending = 0
    for (const txid of load.acknowledged) {
      if (mined.has(txid)) continue
      const { body } = await node.get(`transaction/${txid}`)
      if (body.Error !== 0) {
        expect(String(body.Result), txid).toContain('it left the pool unmined')
        dropped.add(txid)
        continue
      }
      if ((body.Result as { blockhash: string }).blockhash === '') load.pending++
      else mined.add(txid)
    }
    for (const [height, hash] of blocks) expect(await node.hashAt(height)).toBe(hash)
  }

  /** The state of a killed directory is the one that its blocks make, and a restart does not change it. */
  async function checkReplay(copy: string, tip: { height: number; tip: string }): Promise<void> {
    const info = await runJson<ChainInfo>('chain', 'info', '--data-dir', copy)
    const replayed = await runJson<ChainInfo>('chain', 'verify', '--data-dir', copy)
    expect(info).toMatchObject(tip)
    expect(replayed).toMatchObject({ ...tip, state: info.state })
  }
})
