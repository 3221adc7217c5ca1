import { existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import type { Spec } from '../../../src/base/primitives/spec.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { DataDirectory } from '../../../src/ledger/storage/directory.js'
import { openLedger } from '../../../src/node/open-ledger.js'
import { loadSpec } from '../../../src/program/cli/load-spec.js'
import { quietLog } from '../../support/builders/chain.js'
import { Workbench } from '../../support/process/workbench.js'

const bench = new Workbench()
const path = bench.path('data')
const verifier = createInlineVerifier()
const [own, other] = [loadSpec('localnet'), loadSpec('pow')]
afterAll(async () => {
  await verifier.close()
  bench.close()
})

/** Opens the directory as a node does that runs this spec, and closes it. */
async function openAs(spec: Spec): Promise<void> {
  const directory = await DataDirectory.open(path)
  const { chain, database } = await openLedger(spec, directory, verifier, systemEnv(quietLog()), { runs: 0 })
  await chain.close()
  await database.close()
}

beforeAll(() => openAs(own))

it('the first start keeps the chain of a directory', async () => {
  expect(await DataDirectory.held(path)).toMatchObject({ name: 'localnet', spec: own.text })
})

it('a spec that the blocks refuse is not kept, and the right one is', async () => {
  const { claimFile } = await DataDirectory.open(path)
  rmSync(claimFile)
  await expect(openAs(other)).rejects.toThrow('the database holds a chain of another spec than pow')
  expect(existsSync(claimFile)).toBe(false)
  await openAs(own)
  expect(await DataDirectory.held(path)).toMatchObject({ name: 'localnet', spec: own.text })
})
