import { expect, test } from 'vitest'
import { BodyBudget } from '../../../src/api/body-budget.js'
import { apiLimits } from '../../../src/api/limits.js'

const limits = { ...apiLimits, allBodies: 1000, smallBodies: 300, rpcPlainBody: 100 }
const busy = expect.objectContaining({ code: 'busy' })

function refused(budget: BodyBudget, bytes: number): unknown {
  try {
    budget.take(bytes)
  } catch (error) {
    return error
  }
  return undefined
}

test('what is given back can be taken again, once', () => {
  const budget = new BodyBudget(limits)
  const release = budget.take(700)
  expect(refused(budget, 101)).toEqual(busy)
  release()
  release()
  budget.take(700)
  expect(refused(budget, 101)).toEqual(busy)
})

test('large bodies leave room for small ones', () => {
  const budget = new BodyBudget(limits)
  budget.take(500)
  expect(refused(budget, 201)).toEqual(busy)
  budget.take(200)
  for (let i = 0; i < 3; i++) budget.take(100)
  expect(refused(budget, 1)).toEqual(busy)
})
