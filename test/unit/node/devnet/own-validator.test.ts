import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import type { Random } from '../../../../src/base/runtime/env.js'
import { systemEnv } from '../../../../src/base/runtime/process-env.js'
import type { Node } from '../../../../src/node/node.js'
import { startNode } from '../../../../src/node/start-node.js'
import { NativeLevel } from '../../../../src/ledger/storage/native-level.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { quietLog } from '../../../support/builders/chain.js'

const spec = parseSpec(readFileSync(new URL('../../../../genesis/devnet.json', import.meta.url), 'utf8'))

async function devnet({ random, dataDir }: { random?: Random; dataDir?: string } = {}): Promise<Node> {
  const env = { ...systemEnv(quietLog()), clock: { now: () => 1_700_000_000_000 } }
  const storage = dataDir === undefined ? {} : { dataDir }
  const node = await startNode({
    spec,
    env: random === undefined ? env : { ...env, random },
    tuning: { devnet: { mining: { kind: 'manual' } }, storage },
  })
  onTestFinished(() => node.close())
  return node
}

/** The confirm of the first block that a devnet mines, in hex. */
async function firstConfirm(node: Node): Promise<string> {
  await node.devnet?.mine(1)
  const confirm = node.chain.database.get(tables.confirm.key(node.chain.tip.header.hash))
  if (confirm === undefined) throw new Error('the block has no confirm')
  return toHex(confirm)
}

const repeating = (): Random => {
  let drawn = 0
  return {
    repeats: true,
    bytes: (length) => createHash('sha512').update(String(drawn++)).digest().subarray(0, length),
  }
}

it('signs alike where the random bytes of its node repeat, and with fresh numbers elsewhere', async () => {
  const alike = [
    await firstConfirm(await devnet({ random: repeating() })),
    await firstConfirm(await devnet({ random: repeating() })),
  ]
  expect(alike[0]).toBe(alike[1])
  const { repeats, ...bytes } = repeating()
  expect(repeats).toBe(true)
  const fresh = await firstConfirm(await devnet({ random: bytes }))
  expect(fresh.length).toBe(alike[0]?.length)
  expect(fresh).not.toBe(alike[0])
})

it('waits for the disk with a block only where the directory stays', async () => {
  const kept = await mkdtemp(join(tmpdir(), 'didledger-test-'))
  onTestFinished(() => rm(kept, { recursive: true, force: true }))
  const level = new NativeLevel(join(kept, 'rows'), { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await level.open()
  const batch = (
    level as unknown as { _chainedBatch(): { _write(options: { sync: boolean }): Promise<void> } }
  )._chainedBatch()
  const write = vi.spyOn(Object.getPrototypeOf(batch) as typeof batch, '_write')
  onTestFinished(() => write.mockRestore())
  await level.close()
  const syncs = async (node: Node) => {
    write.mockClear()
    await node.devnet?.mine(1)
    return write.mock.calls.map(([{ sync }]) => sync)
  }
  const staying = await devnet({ dataDir: join(kept, 'data') })
  expect(await syncs(staying)).toEqual([true])
  expect(await syncs(await devnet())).toEqual([false])
})
