import { describe, expect, it } from 'vitest'
import { checkJournal } from '../../../../../src/ledger/storage/care/check-journal.js'
import { Database, logReach } from '../../../../../src/ledger/storage/database.js'
import { changesOf } from '../../../../../src/ledger/storage/write/row-changes.js'
import { Overlay } from '../../../../../src/ledger/storage/write/overlay.js'
import { meta, schemaVersion, tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { memoryStore } from '../../../../support/builders/chain.js'

const hash = new Uint8Array(32)

/** A database with a first batch, as a chain leaves it. */
async function started(layout = schemaVersion): Promise<Database> {
  const database = await Database.over(memoryStore())
  const overlay = new Overlay(database)
  overlay.put(meta.version.key, Uint8Array.of(layout))
  overlay.put(meta.tip.key, meta.tip.encode({ hash, height: 0 }))
  await overlay.commit({ kind: 'genesis', hash, height: 0 }, { sync: false })
  return database
}

describe('the walk back through the journal', () => {
  it('ends where nothing can be lost with the log any more', async () => {
    const database = await started()
    const megabytes = logReach / 1024 / 1024 + 1
    for (let i = 0; i < megabytes; i++) {
      const overlay = new Overlay(database)
      overlay.put(tables.pool.key(hash), new Uint8Array(1024 * 1024))
      await overlay.commit({ kind: 'block', hash, height: 0 }, { sync: false })
    }
    const overlay = new Overlay(database)
    overlay.del(tables.journal.key(1))
    await overlay.commit({ kind: 'pool', hash, height: 0 }, { sync: false })
    await expect(checkJournal(database)).resolves.toMatchObject({ fromHeight: 0 })
  })

  it('goes over more rows than it reads at once', async () => {
    const database = await started()
    for (let i = 0; i < 2100; i++)
      await database.commit(changesOf(new Map()), { kind: 'pool', hash, height: 0 }, { sync: false })
    await expect(checkJournal(database)).resolves.toMatchObject({ fromHeight: 0 })
    const overlay = new Overlay(database)
    overlay.del(tables.journal.key(500))
    await overlay.commit({ kind: 'pool', hash, height: 0 }, { sync: false })
    await expect(checkJournal(database)).rejects.toThrow(/batches 500 to 500 are gone/)
  })

  it('says what to do with a database of another version', async () => {
    const older = checkJournal(await started(schemaVersion - 1))
    await expect(older).rejects.toThrow(
      /has layout 3, .* reads layout 4; to build it again from its blocks, run: .*reindex/,
    )
    const newer = checkJournal(await started(schemaVersion + 1))
    await expect(newer).rejects.toThrow(/has layout 5, .* reads layout 4; use a newer version$/)
    await expect(started().then(checkJournal)).resolves.toEqual({ fromHeight: 0 })
  })

  it('wants the tip that the last batch of the chain left', async () => {
    const database = await started()
    const overlay = new Overlay(database)
    overlay.put(meta.tip.key, meta.tip.encode({ hash, height: 1 }))
    await overlay.commit({ kind: 'pool', hash, height: 1 }, { sync: false })
    await expect(checkJournal(database)).rejects.toThrow(/the tip has height 1/)
  })
})
