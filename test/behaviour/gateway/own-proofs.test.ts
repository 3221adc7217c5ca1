import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
    const checks = { verifyOwn: true, verifyEvery }
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
  const otherHash = (value: Buffer) => void (value[value.length - 1] = (value.at(-1) as number) ^ 1)

  it.each([
    ['an operation', tables.transaction.number, otherDocument],
    ['the map of DIDs', tables.mapPage.number, otherHash],
  ] as const)('stops at one of %s that was forged together with its checksum', async (_what, table, forge) => {
    const { did } = scene.alice
    const gateway = await checking(([key, sealed]) => {
      if (key[0] !== table) return [key, sealed]
      const value = Buffer.from(unseal(key, sealed))
      forge(value)
      return [key, seal(key, value)]
    })
    const failed = gateway.failure.catch((error: Error) => error.message)
    await resolve(gateway, did)
    expect(await failed).toMatch(new RegExp(`^--verify-own: the answer about ${did} does not hold: [a-z-]+: `))
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
