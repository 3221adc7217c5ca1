import { expect, it } from 'vitest'
import { AnswerCache } from '../../../../../src/answers/api/http/answer-cache.js'
import { pathOf } from '../../../../../src/answers/api/http/request-path.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { heldBytes } from '../../../../support/assert/heap-probe.js'

const answers = 2000
const query = 'q'.repeat(16_000)

it('keeps answers and their paths, and nothing of the requests they were for', async () => {
  const test = await TestChain.open()
  const cache = new AnswerCache(test.reader, 16 * 1024 * 1024)
  const { tip } = test.chain
  const before = heldBytes()
  for (let i = 0; i < answers; i++)
    cache.set(pathOf(`/api/v1/block/${i}?${query}`), Buffer.from(`{"Result":${i}}`), tip)
  expect(heldBytes() - before).toBeLessThan((answers * query.length) / 4)
  expect(cache.get('/api/v1/block/7')?.toString()).toBe('{"Result":7}')
  expect(cache.get('/api/v1/block/7')?.buffer.byteLength).toBe('{"Result":7}'.length)
  await test.mine()
  expect(cache.get('/api/v1/block/7')).toBeUndefined()
})
