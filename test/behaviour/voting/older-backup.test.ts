import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { concat, toHex } from '../../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../../src/base/primitives/genesis.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { ResourceStack } from '../../../src/base/runtime/resource-stack.js'
import { serve } from '../../../src/node/serving/serve-node.js'
import { startNode } from '../../../src/node/start-node.js'
import { startOf } from '../../../src/program/cli/run-node.js'
import { encodeSignState, freshSignState } from '../../../src/voting/tendermint/sign-state.js'
import { oneValidator, quietLog } from '../../support/builders/chain.js'
import { testKey, testPublicKey, testSpec } from '../../support/builders/spec.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-backup-'))
afterAll(() => rmSync(root, { recursive: true }))

let stack = new ResourceStack()
afterEach(async () => {
  await stack.close()
  stack = new ResourceStack()
})

describe('a validator whose chain is that of an older backup, beside the sign state of now', () => {
  const spec = parseSpec(testSpec(oneValidator()))
  const owner = { genesis: genesisBlock(spec).header.hash, publicKey: testPublicKey(0) }

  /** A node at genesis whose key has signed at a height. */
  async function start(signed: number) {
    const dataDir = mkdtempSync(join(root, 'data-'))
    const name = toHex(sha256(concat(owner.publicKey, owner.genesis)).subarray(0, 8))
    writeFileSync(join(dataDir, `sign-${name}.state`), encodeSignState(freshSignState(signed), owner))
    const warned: string[] = []
    const warn = ({ reason }: Record<string, unknown>, message: string) =>
      void warned.push(`${message}: ${String(reason)}`)
    const env = systemEnv({ ...quietLog(), warn })
    const tuning = { node: { portBase: 0 }, storage: { dataDir } }
    const node = await startNode({ spec, env, tuning, validator: { key: testKey(0) } })
    stack.defer(() => node.close())
    const servers = await serve(node, { log: env.log, tuning })
    stack.defer(() => servers.close())
    const { lines, start: started } = startOf(node, servers)
    const ready = await fetch(`${started.rest}/readyz`)
    return {
      node,
      votes: lines.find((line) => line.startsWith('Votes')),
      warned,
      status: ready.status,
      ready: await ready.json(),
    }
  }

  it('says so when it starts, does not say that it votes, and is not ready', async () => {
    const { node, votes, warned, status, ready } = await start(50)
    expect(votes).toMatch(/^Votes +not now: .*signed at height 50 .*chain here is at height 0.*peers.*newer backup/)
    expect(warned).toEqual([expect.stringMatching(/^this node does not vote: .*signed at height 50/)])
    expect(node.voting?.status().signing).toEqual({ kind: 'signed-above', height: 50 })
    expect({ status, ready }).toMatchObject({
      status: 503,
      ready: {
        status: 'catching up',
        inStep: false,
        height: 0,
        target: 49,
        reason: expect.stringMatching(/signed at height 50/),
      },
    })
    expect(node.standing()).toMatchObject({ inStep: false, answers: 'none' })
  })

  it('votes where the state is that of the next block', async () => {
    const { votes, warned, status } = await start(1)
    expect([votes, warned, status]).toEqual(['Votes     yes', [], 200])
  })
})
