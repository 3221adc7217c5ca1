import { expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { openCore } from '../../../src/node/core.js'
import { TestChain } from '../../support/builders/chain.js'
import { ManualTime } from '../../support/fakes/manual-time.js'
import { MemoryNetwork } from '../../support/network/memory-network.js'

it('a core that never started closes all the same', async () => {
  const time = new ManualTime()
  const test = await TestChain.open({})
  const publicKey = new Uint8Array(32).fill(1)
  const core = await openCore({
    chain: test.chain,
    verifier: createInlineVerifier(),
    signatures: new SignatureCache(),
    env: { clock: time, timers: time, log: test.log, random: { bytes: (length) => new Uint8Array(length) } },
    peering: {
      transport: new MemoryNetwork({ time }).plug(0, { publicKey }),
      publicKey,
      settings: { peers: [], outbound: 0, inbound: 0 },
    },
  })
  expect(core.network?.peers.all()).toEqual([])
  expect(core.network?.peers.neighbors()).toEqual([])
  await core.close()
})
