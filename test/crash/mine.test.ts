import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { SeededRandom } from '../support/builders/seeded-random.js'
import { type ChainInfo, Directories, NodeProcess, runJson } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'

const kills = rounds(3, 20)
const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const directories = new Directories()
afterAll(() => directories.remove())

it(`a devnet killed while dev_mine makes many blocks keeps a chain of whole blocks (DIDLEDGER_SEED=${seed})`, async () => {
  const dataDir = directories.fresh()
  const random = new SeededRandom(seed)
  const start = () => NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
  let node = await start()
  let height = 0
  let interrupted = 0
  for (let round = 0; round < kills; round++) {
    const [before, asked] = [height, 900]
    const answer = node.client.rpc('dev_mine', { blocks: asked }).then(
      () => true,
      () => false,
    )
    await sleep(100 + random.below(700))
    await node.stop('SIGKILL')
    const answered = await answer
    const info = await runJson<ChainInfo>('chain', 'info', '--data-dir', dataDir)
    expect(await runJson<ChainInfo>('chain', 'verify', '--data-dir', dataDir)).toMatchObject({
      height: info.height,
      tip: info.tip,
      state: info.state,
    })
    node = await start()
    height = node.line.height
    expect(await node.hashAt(height)).toBe(info.tip)
    // What was answered is on disk.
    if (answered) expect(height).toBe(before + asked)
    expect(height - before).toBeLessThanOrEqual(asked)
    if (height < before + asked) interrupted++
    await node.client.rpc('dev_mine', { blocks: 1 })
    height++
    expect(await node.client.height()).toBe(height)
  }
  expect(interrupted).toBeGreaterThan(0)
  await node.stop()
})
