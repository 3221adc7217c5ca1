import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import type { Chain } from '../../../src/ledger/chain/chain.js'
import { Backfill } from '../../../src/node/backfill.js'
import type { Network } from '../../../src/network/network.js'
import { busyChain, stateHeight } from '../../support/builders/busy-chain.js'
import { oneValidator, quietLog, type TestChain } from '../../support/builders/chain.js'
import { joinedChain, passBlocks } from '../../support/builders/joined-chain.js'
import { testSpec } from '../../support/builders/spec.js'
import { eventually } from '../../support/process/patience.js'
import { TestPeer } from '../../support/network/sync.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-backfill-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const overrides = { ...oneValidator(), producer: 'sponsor' as const, coinInterval: 330 }

/** A chain, and that of a node that took its state and has caught up. */
async function joinedTo(height: number): Promise<{ test: TestChain; chain: Chain }> {
  const test = await busyChain(overrides)
  const chain = await joinedChain(test)
  await passBlocks(test, chain, [stateHeight + 1, height])
  return { test, chain }
}

function backfillOf(chain: Chain, peers: readonly TestPeer[], directory: string, log = quietLog()): Backfill {
  const { clock, timers } = systemEnv(log)
  const all = () => peers.filter(({ closed }) => !closed)
  const network = { peers: { all }, sync: { progress: () => ({ catchingUp: false }) } } as unknown as Network
  return new Backfill({ chain, directory, verifier: createInlineVerifier(), network, clock, timers, log })
}

async function close(test: TestChain, chain: Chain): Promise<void> {
  await chain.close()
  await chain.database.close()
  await test.close()
}

it('the history of a state is filled in, also after a stop and with a database that is damaged', async () => {
  const { test, chain } = await joinedTo(335)
  const directory = join(root, 'history')
  const peers = [new TestPeer(test)]
  // Stopped at once, and whenever it comes to be.
  const first = backfillOf(chain, peers, directory)
  first.start()
  await first.close()
  expect(chain.joinedHeight).toBe(stateHeight)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  writeFileSync(join(directory, 'CURRENT'), 'no name of a file')
  const log = quietLog()
  const second = backfillOf(chain, peers, directory, log)
  second.start()
  await eventually('the history', () => chain.joinedHeight === 0)
  await second.close()
  expect(log.errors).toEqual([])
  expect([chain.prunedHeight, existsSync(directory)]).toEqual([0, false])
  // What a kill left when all of it was there.
  mkdirSync(directory)
  const third = backfillOf(chain, peers, directory)
  third.start()
  await third.close()
  expect(existsSync(directory)).toBe(false)
  await close(test, chain)
})

it('waits for the block that commits to the coins of the state', async () => {
  const { test, chain } = await joinedTo(329)
  const peer = new TestPeer(test)
  const backfill = backfillOf(chain, [peer], join(root, 'early'))
  backfill.start()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect([peer.asked.size, chain.joinedHeight]).toEqual([0, stateHeight])
  await passBlocks(test, chain, [330, 330])
  await eventually('the history', () => chain.joinedHeight === 0)
  await backfill.close()
  await close(test, chain)
})

it('stops the node where a block breaks a rule that validators and state agree on', async () => {
  const { test, chain } = await joinedTo(335)
  const dear = [{ name: 'dear', height: 2, parameters: { fees: { minimum: '10000000000', perByte: '1' } } }]
  const failures: Error[] = []
  const { headers, database, tip, coinRoots, joinedHeight } = chain
  const strict = {
    ...{ headers, database, tip, coinRoots, joinedHeight },
    spec: parseSpec(testSpec({ maturity: 2, ...overrides, upgrades: dear })),
    noteVerified: () => {},
    fail: (error: Error) => failures.push(error),
  } as unknown as Chain
  const backfill = backfillOf(strict, [new TestPeer(test)], join(root, 'wrong'))
  backfill.start()
  await eventually('the failure', () => failures.length > 0)
  await backfill.close()
  expect(failures.map(String)).toEqual([
    expect.stringMatching(/the state of height 42 was taken, and is wrong: block \d+ breaks a rule \(tx-fee/),
  ])
  await close(test, chain)
})
