import { expect, it } from 'vitest'
import { ResourceStack } from '../../../../src/base/runtime/resource-stack.js'

it('closes in reverse order, one after the other, and once', async () => {
  const stack = new ResourceStack()
  const closed: string[] = []
  for (const name of ['first', 'second', 'third']) {
    stack.defer(async () => {
      await Promise.resolve()
      closed.push(name)
    })
  }
  await Promise.all([stack.close(), stack.close()])
  await stack.close()
  expect(closed).toEqual(['third', 'second', 'first'])
})

it('closes the others as well where one fails, and rejects with the first failure', async () => {
  const stack = new ResourceStack()
  const closed: string[] = []
  stack.defer(() => closed.push('first'))
  stack.defer(() => {
    throw new Error('second')
  })
  stack.defer(() => Promise.reject(new Error('third')))
  await expect(stack.close()).rejects.toThrow('third')
  expect(closed).toEqual(['first'])
})
