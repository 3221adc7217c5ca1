import { expect, it } from 'vitest'
import { withLock } from '../../../../../../src/ledger/storage/care/level/lock.js'

it('ends where no directory can be made', async () => {
  // Node's own recursive form never returns there; on a read-only file system it says that nothing is there.
  await expect(withLock('/proc/none/database', () => Promise.resolve())).rejects.toThrow()
})
