import { randomUUID } from 'node:crypto'
import { afterAll, inject } from 'vitest'
import { endChildren, endMarked, markChildren } from './children.js'

/** Before and after each test file: its processes end with it. One that it does not know of makes the file fail. */
const mark = `${inject('run')}/${randomUUID()}`
markChildren(mark)

afterAll(async () => {
  await endChildren()
  const left = await endMarked(mark)
  if (left.length > 0) throw new Error(`processes outlive their test:\n${left.join('\n')}`)
})
