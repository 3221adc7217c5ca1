import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Node } from '../../../../src/node/node.js'
import { startNode } from '../../../../src/node/start-node.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../../src/base/runtime/process-env.js'
import { devnetMnemonic, seededDidPath } from '../../../../src/clients/wallet/devnet-accounts.js'
import { deriveKey } from '../../../../src/base/crypto/hd.js'
import { publicKeyOf } from '../../../../src/base/crypto/keys.js'
import { accountOf } from '../../../../src/clients/wallet/accounts.js'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import type { Verifier } from '../../../../src/base/crypto/verifier.js'
import { testDevnet } from '../../../support/fakes/test-devnet.js'
import { quietLog } from '../../../support/builders/chain.js'
import { oneIn } from '../../../support/process/thorough.js'

const spec = parseSpec(readFileSync(new URL('../../../../genesis/devnet.json', import.meta.url), 'utf8'))
const coin = 100_000_000n

async function devnet(): Promise<Node & { readonly devnet: NonNullable<Node['devnet']> }> {
  const node = await startNode({ spec, env: systemEnv(quietLog()), tuning: { devnet: { mining: { kind: 'manual' } } } })
  onTestFinished(() => node.close())
  if (node.devnet === undefined) throw new Error('a devnet spec makes a devnet')
  return Object.assign(node, { devnet: node.devnet })
}

const resolved = async (node: Node, did: string) => {
  const { status, transaction = [] } = (await node.resolver.resolve(did, { all: true })) as {
    status: number
    transaction?: readonly unknown[]
  }
  return { status, operations: transaction.length }
}

describe('the DIDs that a devnet begins with', () => {
  it('are registered in blocks, the same ones each time, under keys that everyone can derive', async () => {
    const node = await devnet()
    const steps: number[] = []
    await node.devnet.seed(12, (done) => steps.push(done))
    const { count, first } = node.devnet.seeded as { count: number; first: readonly string[] }
    expect({ count, steps: [...new Set(steps)], height: node.reader.height, waiting: node.mempool.size }).toEqual({
      count: 12,
      steps: [0, 12],
      height: 2,
      waiting: 0,
    })
    for (const [index, did] of first.entries()) {
      const key = deriveKey(devnetMnemonic, `${seededDidPath}/${index}`) as Uint8Array
      expect(did).toBe(accountOf(publicKeyOf(key), index).did)
      expect(await resolved(node, did)).toEqual({ status: 0, operations: 1 })
    }
    const other = await devnet()
    await other.devnet.seed(12)
    expect(other.devnet.seeded).toEqual(node.devnet.seeded)
  })

  it('have documents that searches tell apart', async () => {
    const node = await devnet()
    await node.devnet.seed(30)
    const total = async (service: string) => (await node.resolver.query({ service })).total
    expect([await total('LinkedDomains'), await total('DIDCommMessaging'), await total('PersonalDataStore')]).toEqual([
      30, 15, 6,
    ])
  })

  it('are only added to what is registered already', async () => {
    const node = await devnet()
    await node.devnet.seed(3)
    const { height } = node.reader
    await node.devnet.seed(3)
    expect(node.reader.height).toBe(height)
    await node.devnet.seed(5)
    expect(node.reader.height).toBe(height + 2)
    expect(node.devnet.seeded?.count).toBe(5)
  })

  it('come in rounds of a thousand, of which the first has two hundred', async () => {
    const node = await devnet()
    const steps: number[] = []
    await node.devnet.seed(1250, (done) => steps.push(done))
    expect([...new Set(steps)]).toEqual([0, 200, 1200, 1250])
    expect(node.mempool.size).toBe(0)
  })

  it('tell of a round while it is made and while it is signed, and end where that is refused', async () => {
    const steps: number[] = []
    const node = await devnet()
    await node.devnet.seed(600, (done) => steps.push(done))
    const within = (done: number) => steps.filter((step) => step === done).length
    // Twice for each 50, which are named, made and signed; those of the second round are made while the first one is registered.
    expect(within(0) + within(200)).toBeGreaterThan((2 * 600) / 50)
    for (let refused = 0; refused < steps.length; refused += oneIn(17)) {
      const other = await devnet()
      let calls = 0
      const stop = () => {
        if (calls++ >= refused) throw new Error('stopped')
      }
      await expect(other.devnet.seed(600, stop)).rejects.toThrow('stopped')
      expect(calls).toBeLessThan(refused + 40)
    }
  })

  it('are not verified again by the process that signed them', async () => {
    const inline = createInlineVerifier()
    let verified = 0
    const verifyAll: Verifier['verifyAll'] = (checks) => {
      verified += checks.length
      return inline.verifyAll(checks)
    }
    const verifier = { verifyAll, close: () => inline.close() }
    const { devnet, resolver, close } = await testDevnet({ verifier })
    onTestFinished(close)
    await devnet.seed(9)
    expect(await resolver.resolve(devnet.seeded?.first[0] as string)).toMatchObject({ status: 0 })
    // The transaction of the faucet passes the pool.
    expect(verified).toBe(1)
    const other = await testDevnet({ verifier })
    onTestFinished(other.close)
    verified = 0
    await other.devnet.loadState(await devnet.dumpState())
    // Operation, document and transaction of each, the credentials of six, the faucet, and proposal and vote of two blocks.
    expect(verified).toBe(9 * 3 + 6 + 1 + 4)
  })

  it('are refused in plain words where the faucet is empty', async () => {
    const node = await devnet()
    // Twenty coins of the genesis block are the faucet's; the transaction that takes them leaves a fee's worth.
    await node.devnet.faucet('EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', 1_000_000n * coin - 1000n)
    await node.devnet.mine(1)
    await expect(node.devnet.seed(20)).rejects.toThrow('the faucet cannot pay for 20 DIDs more at height 1')
    expect(node.mempool.size).toBe(0)
  })
})
