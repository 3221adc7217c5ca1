import { randomUUID } from 'node:crypto'
import { afterAll, inject } from 'vitest'
import { deriveOnce } from './derived-keys.js'
import { compareBytesAtOnce } from './equal-bytes.js'
import { endChildren, endMarked, markChildren, userData } from './children.js'

/** Before and after each test file: its processes end with it, and write into no real home. One that it does not know of makes the file fail. */
const run = inject('run')
const mark = `${run}/${randomUUID()}`
markChildren(mark)
deriveOnce()
compareBytesAtOnce()
process.env['XDG_DATA_HOME'] = userData(run)
process.env['XDG_CACHE_HOME'] = userData(run)

afterAll(async () => {
  await endChildren()
  const left = await endMarked(mark)
  if (left.length > 0) throw new Error(`processes outlive their test:\n${left.join('\n')}`)
})
