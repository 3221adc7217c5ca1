import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { watchDirectory } from '../../../src/node/directory-watch.js'
import { startNode } from '../../../src/node/start-node.js'
import { quietLog } from '../../support/builders/chain.js'
import { ManualTimers } from '../../support/fakes/manual-timers.js'
import { specText } from '../../support/process/workbench.js'

async function running() {
  const folder = mkdtempSync(join(tmpdir(), 'didledger-gone-'))
  const dataDir = join(folder, 'data')
  const timers = new ManualTimers()
  const env = { ...systemEnv(quietLog()), timers }
  const tuning = { node: { portBase: 0 }, storage: { dataDir } }
  const node = await startNode({ spec: parseSpec(specText()), env, tuning })
  onTestFinished(async () => {
    await node.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { node, dataDir, folder, timers }
}

it.each<[string, (dataDir: string) => void]>([
  ['removed', (dataDir) => rmSync(dataDir, { recursive: true })],
  ['moved away', (dataDir) => renameSync(dataDir, `${dataDir}.old`)],
])('a node fails once its data directory is %s', async (_, remove) => {
  const { node, dataDir, timers } = await running()
  remove(dataDir)
  timers.fire(5_000)
  await expect(node.failure).rejects.toThrow(`the data directory ${dataDir} was removed or moved away`)
})

it('looks again and again while the directory is there, until it is ended', async () => {
  const { node } = await running()
  const timers = new ManualTimers()
  const { end } = watchDirectory(node.directory, { timers })
  for (let look = 0; look < 3; look++) {
    timers.fire()
    while (timers.pending.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  end()
  expect(timers.pending).toEqual([])
})
