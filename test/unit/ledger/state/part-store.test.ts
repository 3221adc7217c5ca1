import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { hashOf, PartStore } from '../../../../src/ledger/state/part-store.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-parts-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

it('keeps a part that two peers bring at the same time', async () => {
  const store = await PartStore.open(join(root, 'twice'))
  const bytes = new Uint8Array(1_000_000).fill(7)
  const hash = hashOf(bytes)
  await Promise.all(Array.from({ length: 8 }, () => store.put(hash, bytes)))
  expect(await store.get(hash)).toEqual(Buffer.from(bytes))
  expect(readdirSync(join(root, 'twice'))).toHaveLength(1)
})
