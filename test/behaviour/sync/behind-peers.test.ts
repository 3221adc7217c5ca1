import { afterEach, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { services } from '../../../src/network/wire/status-message.js'
import { openCore, type Core } from '../../../src/node/core.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { ManualTime } from '../../support/fakes/manual-time.js'
import { addressOf, identityOf, MemoryNetwork } from '../../support/network/memory-network.js'
import { longChain } from '../../support/network/sync.js'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

it('a node that lacks blocks says so to its peers, and that it has them, within seconds', async () => {
  const source = await longChain(withoutValidators, 30)
  opened.push(source)
  const time = new ManualTime(source.clock.time)
  const network = new MemoryNetwork({ time })
  let withheld = true
  network.weather.loss = (name) => (withheld && name === 'blocks' ? 1 : 0)

  /** A node with a chain that dials the node of a number. */
  async function core(number: number, chain: TestChain, dials?: number): Promise<Core> {
    const { publicKey } = identityOf(number)
    const peers = dials === undefined ? [] : [addressOf(dials)]
    const one = await openCore({
      chain: chain.chain,
      verifier: createInlineVerifier(),
      signatures: new SignatureCache(),
      env: { clock: time, timers: time, log: chain.log, random: { bytes: (length) => new Uint8Array(length) } },
      peering: {
        transport: network.plug(number, { publicKey }),
        publicKey,
        settings: { peers, outbound: 0, inbound: 8 },
      },
    })
    opened.push(one)
    await one.start()
    return one
  }
  const [empty, last] = [await TestChain.open(withoutValidators), await TestChain.open(withoutValidators)]
  opened.push(empty, last)
  await core(1, source)
  const joining = await core(2, empty, 1)
  const beside = await core(3, last, 2)
  const told = () => (beside.network?.peers.all() ?? []).map(({ status }) => status.services & services.behind)
  const until = async (what: () => boolean) => {
    for (let second = 0; !what(); second++) {
      expect(second).toBeLessThan(120)
      await time.advance(1_000)
    }
  }

  await until(() => joining.network?.sync.progress().catchingUp === true)
  await time.advance(3_000)
  expect(told()).toEqual([services.behind])
  expect(beside.network?.sync.beyond.met).toBe(false)
  withheld = false
  await until(() => last.chain.tip.header.height === 30)
  await time.advance(3_000)
  expect(told()).toEqual([0])
  expect(beside.network?.sync.beyond.met).toBe(true)
})
