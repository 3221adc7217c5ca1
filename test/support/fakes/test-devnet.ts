import { randomBytes } from 'node:crypto'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'
import { VirtualClock } from '../../../src/node/devnet/clock.js'
import { Devnet } from '../../../src/node/devnet/devnet.js'
import type { MiningMode } from '../../../src/node/devnet/mining-mode.js'
import { addressFromPublicKey } from '../../../src/base/primitives/address.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import { devnetValidatorKey, faucetKey } from '../../../src/clients/wallet/devnet-accounts.js'
import { memoryStore, type Store, TestChain } from '../builders/chain.js'
import { testAddress } from '../builders/spec.js'
import { ManualTimers } from './manual-timers.js'
import { inStep } from './standing.js'

/** A devnet in memory over a real clock that stands still. Persons 10 and 11 and the faucet are rich. */
export async function testDevnet({
  mining = { kind: 'manual' },
  store = memoryStore(),
  verifier = createInlineVerifier(),
}: { readonly mining?: MiningMode; readonly store?: Store; readonly verifier?: Verifier } = {}) {
  const allocations = [testAddress(10), testAddress(11), addressFromPublicKey(faucetKey().publicKey)].map(
    (address) => ({ address, amount: '100000000000' }),
  )
  const signatures = new SignatureCache()
  const validators = [toHex(devnetValidatorKey().publicKey)]
  const chain = await TestChain.open({ devnet: true, validators, allocations }, { store, verifier, signatures })
  const clock = new VirtualClock(chain.clock, chain.database)
  chain.chain.addIndexer(clock)
  const timers = new ManualTimers()
  const random = { bytes: (length: number) => randomBytes(length) }
  const { mempool, log, database } = chain
  const devnet = new Devnet({ chain: chain.chain, mempool, signatures, clock, timers, random, log, mining })
  const standing = () => inStep(chain.reader.height)
  const resolver = new Resolver({ database, prover: chain.prover, clock, tip: () => chain.chain.tip.header, standing })
  devnet.start()
  const close = async () => {
    await devnet.close()
    await chain.close()
  }
  return { chain, clock, timers, devnet, resolver, store, close }
}

export type TestDevnet = Awaited<ReturnType<typeof testDevnet>>
