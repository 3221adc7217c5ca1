import { expect, it } from 'vitest'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { PeerRows } from '../../../../src/network/peers/peer-rows.js'
import { memoryStore, quietLog } from '../../../support/builders/chain.js'

it('rows of peers that cannot be written are an error in the log, and no failure of who writes them', async () => {
  const database = await Database.over(memoryStore())
  const log = quietLog()
  const rows = new PeerRows({ database, tip: { header: { height: 0, hash: zeroHash } } }, log)
  await rows.write((overlay) => overlay.put(Buffer.of(0x70, 1), Buffer.of(1)))
  expect(log.errors).toEqual([])
  await database.close()
  await rows.write((overlay) => overlay.put(Buffer.of(0x70, 1), Buffer.of(2)))
  await rows.idle()
  expect(log.errors.map(({ message }) => message)).toEqual(['what is known of peers was not written'])
})
