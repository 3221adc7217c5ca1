import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { didMapKey } from '../../../src/identity/proofs/map-tree.js'
import { pageSlots } from '../../../src/ledger/storage/rows/map/map-page.js'
import { seal, unseal } from '../../../src/ledger/storage/rows/sealed-row.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import type { Gateway } from '../../../src/node/gateway/gateway.js'
import { oneValidator, withoutValidators } from '../../support/builders/chain.js'
import { closeScene, type Scene, sceneOf } from '../../support/builders/light-scene.js'
import { ask, askJson } from '../../support/client/api.js'
import { LedgerEngine } from '../../support/fakes/ledger-engine.js'
import { ManualTimers } from '../../support/fakes/manual-timers.js'
import { gatewayOver } from '../../support/network/gateways.js'
import { eventually } from '../../support/process/patience.js'

describe.each([
  ['of a validator', oneValidator()],
  ['of work', withoutValidators],
] as const)('a gateway of a chain %s that checks its own answers', (_, spec) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await sceneOf(spec)
  })
  afterAll(() => closeScene(scene))

  async function checking(change: LedgerEngine['change'] = (row) => row, verifyEvery = 1): Promise<Gateway> {
    const engine = new LedgerEngine(scene.test)
    // It answers by a wrong clock too, which a gateway refuses by default.
    const checks = { verifyOwn: true, verifyEvery, resolver: { answerOutOfStep: true } }
    const gateway = await gatewayOver(scene.test, engine, [], {}, new ManualTimers(), checks)
    engine.change = change
    return gateway
  }

  const resolve = (to: Gateway, did: string, more: object = {}) =>
    askJson(to.ports.rpc, '/', { id: 1, method: 'resolvedid', params: { did, all: false, ...more } })
  const counted = async (to: Gateway) =>
    [...(await ask(to.ports.rest, '/metrics')).text.matchAll(/^didledger_gateway_own_proofs_\w+ (\d+)/gm)].map(
      ([, count]) => Number(count),
    )

  it('finds that those of good rows hold', async () => {
    const gateway = await checking()
    const questions: [string, object][] = [
      [scene.alice.did, {}],
      [scene.alice.did, { all: true }],
      [scene.dave.did, {}],
      [scene.alice.did, { all: true, limit: 1 }],
      [scene.alice.did, { context: true }],
      ['did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', {}],
    ]
    for (const [i, [did, more]] of questions.entries()) {
      expect((await resolve(gateway, did, more)).body).toHaveProperty('result')
      await eventually('the check', async () => (await counted(gateway))[0] === i + 1)
    }
    expect(await counted(gateway)).toEqual([questions.length, 0])
    expect((await ask(gateway.ports.rest, '/healthz')).status).toBe(200)
    await gateway.close()
  })

  /** Another character in the document of each operation, whose JSON is read as before. */
  const otherDocument = (value: Buffer) => {
    const at = value.indexOf('eyJ')
    if (at < 0) return
    const text = value.toString('latin1', at, at + 60)
    const document = Buffer.from(text, 'base64url')
    document[29] = (document[29] as number) ^ 1
    value.write(document.toString('base64url'), at, 'latin1')
  }
  /** Other hashes in the slots of a page of the map that are, or are not, the leaf of a DID. */
  const otherSlots = (value: Buffer, did: string, isOwn: boolean) => {
    const kinds = value.readUInt32LE()
    const key = didMapKey(did)
    let end = 4
    for (let slot = 0; slot < pageSlots; slot++) {
      const size = [0, 64, 32][(kinds >>> (2 * slot)) & 3] ?? 0
      const leaf = size === 64 && value.subarray(end, end + 32).equals(key)
      end += size
      if (size > 0 && leaf === isOwn) value[end - 1] = (value[end - 1] as number) ^ 1
    }
  }

  it.each([
    ['an operation', tables.transaction.number, otherDocument, 'answer-transaction: '],
    [
      'the leaf of the DID in the map',
      tables.mapPage.number,
      (value: Buffer, did: string) => otherSlots(value, did, true),
      'no proof can be made of it: the database is damaged: the map of DIDs does not have what the rows of a DID say; the rows',
    ],
    [
      'the rest of the map',
      tables.mapPage.number,
      (value: Buffer, did: string) => otherSlots(value, did, false),
      'path-root: ',
    ],
  ] as const)('stops at one of %s that was forged together with its checksum', async (_what, table, forge, reason) => {
    const { did } = scene.alice
    const gateway = await checking(([key, sealed]) => {
      if (key[0] !== table) return [key, sealed]
      const value = Buffer.from(unseal(key, sealed))
      forge(value, did)
      return [key, seal(key, value)]
    })
    let failed = ''
    gateway.failure.catch((error: Error) => (failed = error.message))
    await resolve(gateway, did)
    await eventually('the failure', () => failed !== '')
    expect(failed.startsWith(`--verify-own: the answer about ${did} does not hold: ${reason}`), failed).toBe(true)
    expect(await counted(gateway)).toEqual([1, 1])
    expect((await ask(gateway.ports.rest, '/readyz')).body).toMatchObject({ status: 'failed' })
    await gateway.close()
  })

  it('counts none that a wrong clock keeps from being judged', async () => {
    const gateway = await checking()
    const { clock } = scene.test
    const { did } = scene.alice
    const now = clock.time
    clock.time = 1000
    expect((await resolve(gateway, did)).body).toHaveProperty('result')
    await new Promise((resolved) => setTimeout(resolved, 300))
    expect(await counted(gateway)).toEqual([0, 0])
    clock.time = now
    await resolve(gateway, did, { context: true })
    await eventually('the check', async () => (await counted(gateway))[0] === 1)
    expect((await ask(gateway.ports.rest, '/healthz')).status).toBe(200)
    await gateway.close()
  })

  it('checks one of so many', async () => {
    const gateway = await checking(undefined, 3)
    const { did } = scene.alice
    for (const more of [{ context: true }, { all: true }]) await resolve(gateway, did, more)
    await new Promise((resolved) => setTimeout(resolved, 200))
    expect(await counted(gateway)).toEqual([0, 0])
    await resolve(gateway, did)
    await eventually('the check', async () => (await counted(gateway))[0] === 1)
    await gateway.close()
  })
})
