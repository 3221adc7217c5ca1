import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadSpec } from '../../../src/program/cli/load-spec.js'
import type { StartStep } from '../../../src/node/node.js'
import { startNode } from '../../../src/node/start-node.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { devnetAccount } from '../../../src/clients/wallet/devnet-accounts.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { meta, type TipRow } from '../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { quietLog } from '../../support/builders/chain.js'

it('a start says how far it is with the transactions that waited, and nothing of none', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'didledger-test-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const steps: StartStep[] = []
  const start = () => {
    const tuning = { storage: { dataDir }, devnet: { mining: { kind: 'manual' } } } as const
    const onStep = (step: StartStep) => void (step.stage === 'pool' && steps.push(step))
    return startNode({ spec: loadSpec('devnet'), env: systemEnv(quietLog()), tuning, onStep })
  }
  const first = await start()
  for (let n = 0; n < 3; n++) await first.devnet?.faucet(devnetAccount(n).address, 1_000_000n)
  await first.close()
  expect(steps).toEqual([])

  const second = await start()
  expect(steps).toEqual([1, 2, 3].map((done) => ({ stage: 'pool', done, total: 3 })))
  expect(second.mempool.size).toBe(3)
  await second.devnet?.mine(1)
  await second.devnet?.faucet(devnetAccount(3).address, 1_000_000n)
  await second.close()
  expect(steps).toHaveLength(3)
})

it('a start says how far it is with the blocks whose days it counts, once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'didledger-test-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const steps: StartStep[] = []
  const run = async (blocks: number) => {
    const tuning = { storage: { dataDir }, devnet: { mining: { kind: 'manual' } } } as const
    const onStep = (step: StartStep) => void (step.stage === 'days' && steps.push(step))
    const node = await startNode({ spec: loadSpec('devnet'), env: systemEnv(quietLog()), tuning, onStep })
    await node.devnet?.mine(blocks)
    await node.close()
  }
  await run(3)
  expect(steps).toEqual([])
  const database = await Database.open(join(dataDir, 'chain'))
  const overlay = new Overlay(database)
  overlay.del(meta.days.key)
  await overlay.commit({ kind: 'layout', ...(meta.tip.get(database) as TipRow) }, { sync: true })
  await database.close()
  await run(1)
  await run(1)
  expect(steps).toEqual([1, 2, 3].map((done) => ({ stage: 'days', done, total: 3 })))
})
