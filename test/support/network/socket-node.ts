import { ed25519 } from '@noble/curves/ed25519.js'
import { randomBytes } from 'node:crypto'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { Network } from '../../../src/network/network.js'
import { openTransport } from '../../../src/network/open-transport.js'
import { protocols, topics } from '../../../src/network/wire/all-messages.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { quietLog, TestChain } from '../builders/chain.js'

/** A chain with its pool behind real sockets. */
export interface SocketNode {
  readonly test: TestChain
  readonly network: Network
  readonly address: string
  close(): Promise<void>
}

/** A node on a port of its own that opens connections to no others than `peers`. */
export async function openSocketNode(peers: readonly string[], chain?: TestChain): Promise<SocketNode> {
  const test = chain ?? (await TestChain.open())
  const secretKey = randomBytes(32)
  const env = systemEnv(quietLog())
  const genesis = test.chain.genesis.header.hash
  const transport = await openTransport({
    secretKey,
    genesis,
    protocols,
    topics,
    hosts: ['127.0.0.1'],
    port: 0,
    env,
  })
  const network = await Network.open({
    ...env,
    transport,
    publicKey: ed25519.getPublicKey(secretKey),
    chain: test.chain,
    mempool: test.mempool,
    verifier: createInlineVerifier(),
    settings: { peers: [...peers], outbound: 0, inbound: 8 },
  })
  await network.start(undefined)
  const close = async () => {
    await network.close()
    await transport.close()
    await test.close()
  }
  return { test, network, address: `127.0.0.1:${transport.port}`, close }
}
