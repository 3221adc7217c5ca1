import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { startNode } from '../../../src/node/start-node.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { devnetValidatorKey } from '../../../src/clients/wallet/devnet-accounts.js'
import { quietLog } from '../../support/builders/chain.js'
import { until } from '../../support/network/test-network.js'
import { specText, Workbench } from '../../support/process/workbench.js'

let bench: Workbench
afterEach(() => bench.close())

/** What is seen of every sign state in a directory: writing one, even with the same bytes, makes another file. */
function signStates(directory: string) {
  const names = readdirSync(directory).filter((name) => name.startsWith('sign-'))
  return names.map((name) => {
    const { ino, mtimeMs } = statSync(join(directory, name))
    return { name, ino, mtimeMs, bytes: readFileSync(join(directory, name)).toString('hex') }
  })
}

/** A directory in which a validator that is alone has confirmed some blocks. */
async function votedIn(dataDir: string): Promise<void> {
  const text = JSON.stringify({ ...(JSON.parse(specText()) as object), devnet: false })
  bench.write('spec.json', text)
  const { privateKey } = devnetValidatorKey()
  const env = systemEnv(quietLog())
  const node = await startNode({
    spec: parseSpec(text),
    env,
    validator: { key: privateKey },
    tuning: { storage: { dataDir } },
  })
  await until('three blocks', 30, async () => node.reader.height >= 3 || `at ${node.reader.height}`).finally(() =>
    node.close(),
  )
}

describe('what a key signed', () => {
  it('is left alone by all that looks after the chain', async () => {
    bench = new Workbench()
    const dataDir = bench.path('data')
    await votedIn(dataDir)
    const before = signStates(dataDir)
    expect(before).toHaveLength(1)
    const file = bench.path('blocks.bin')
    for (const command of [['info'], ['verify'], ['export', file], ['reindex'], ['import', file]]) {
      await bench.json('chain', ...command, '--genesis', bench.spec, '--data-dir', dataDir)
      expect(signStates(dataDir), command[0] as string).toEqual(before)
    }
    // The database is gone, and its blocks come back from the file.
    const [{ name }] = before as [(typeof before)[0]]
    const other = bench.path('other')
    mkdirSync(other)
    copyFileSync(join(dataDir, name), join(other, name))
    const copied = signStates(other)
    const { height } = await bench.json('chain', 'info', '--genesis', bench.spec, '--data-dir', dataDir)
    const imported = await bench.json('chain', 'import', file, '--genesis', bench.spec, '--data-dir', other)
    expect(imported.height).toBe(height)
    expect(signStates(other)).toEqual(copied)
  })

  it('is left alone by a devnet that goes back, which keeps nothing of that on disk', async () => {
    bench = new Workbench()
    const dataDir = bench.path('data')
    mkdirSync(dataDir)
    bench.write('data/sign-0011223344556677.state', 'of another chain')
    const before = signStates(dataDir)
    const env = systemEnv(quietLog())
    const node = await startNode({ spec: parseSpec(specText()), env, tuning: { storage: { dataDir } } })
    try {
      const { devnet, mining, reader } = node
      await mining.mine(2)
      const snapshot = await devnet?.snapshot()
      await mining.mine(2)
      expect(reader.height).toBeGreaterThanOrEqual(4)
      await devnet?.revert(snapshot as number)
      expect(reader.height).toBeLessThan(4)
      await mining.mine(1)
    } finally {
      await node.close()
    }
    expect(signStates(dataDir)).toEqual(before)
  })
})
