import type { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apiLimits } from '../../../../../src/answers/api/api-limits.js'
import { BodyBudget, type CountedBody } from '../../../../../src/answers/api/http/body-budget.js'

const limits = { ...apiLimits, allBodies: 1000, smallBodies: 300, smallBody: 100, bodyGrace: 0, bodyRate: 0 }
const busy = expect.objectContaining({ code: 'busy' })

function refused(body: CountedBody, bytes: number): unknown {
  try {
    body.grow(bytes)
  } catch (error) {
    return error
  }
  return undefined
}

test('what is given back can be taken again, once', () => {
  const budget = new BodyBudget(limits)
  const body = budget.begin()
  body.grow(650)
  expect(refused(budget.begin(), 101)).toEqual(busy)
  body.release()
  body.release()
  budget.begin().grow(650)
  expect(refused(budget.begin(), 101)).toEqual(busy)
})

test('large bodies leave room for small ones, and small ones for large ones', () => {
  const budget = new BodyBudget(limits)
  budget.begin().grow(700)
  for (let i = 0; i < 3; i++) budget.begin().grow(100)
  expect(refused(budget.begin(), 1)).toEqual(busy)
  const other = new BodyBudget(limits)
  for (let i = 0; i < 3; i++) other.begin().grow(100)
  expect(refused(other.begin(), 1)).toEqual(busy)
  other.begin().grow(700)
})

test('nothing is lost or won, whatever grows, is refused and goes', () => {
  const steps = fc.array(fc.tuple(fc.nat(9), fc.oneof(fc.constant(0), fc.nat(400))), { maxLength: 100 })
  fc.assert(
    fc.property(steps, (all) => {
      const budget = new BodyBudget(limits)
      const bodies = Array.from({ length: 10 }, () => budget.begin())
      for (const [i, bytes] of all) {
        const body = bodies[i] as CountedBody
        const before = body.held
        expect(refused(body, bytes) === undefined ? bytes : before).toBe(body.held)
        const small = bodies.filter(({ held }) => held <= 100)
        const sum = (some: CountedBody[]) => some.reduce((total, { held }) => total + held, 0)
        expect(sum(small)).toBeLessThanOrEqual(300)
        expect(sum(bodies) - sum(small)).toBeLessThanOrEqual(700)
      }
      for (const body of bodies) body.release()
      budget.begin().grow(700)
      for (let i = 0; i < 3; i++) budget.begin().grow(100)
    }),
  )
})

test('a slow body that is still coming makes room; one that is there does not', () => {
  const budget = new BodyBudget({ ...limits, bodyRate: 1e12 })
  const [coming, there] = [budget.begin(), budget.begin()]
  const errors: unknown[] = []
  coming.evict = (error) => {
    coming.release()
    errors.push(error)
  }
  there.grow(350)
  coming.grow(350)
  budget.begin().grow(350)
  expect(errors).toEqual([busy])
  expect(refused(budget.begin(), 350)).toEqual(busy)
})

test('a body whose answer is not read makes room; one whose answer is made, or taken, does not', () => {
  const budget = new BodyBudget(limits)
  class Answer {
    destroyed = 0
    readonly socket: Socket
    constructor(writableLength: number) {
      this.socket = { writableLength } as Socket
    }
    destroy(): never {
      this.destroyed++
      return undefined as never
    }
  }
  const [unread, read] = [new Answer(1), new Answer(0)]
  for (const one of [unread, read]) {
    const body = budget.begin(one)
    body.grow(350)
    body.complete()
  }
  budget.begin().grow(350)
  expect([unread.destroyed, read.destroyed]).toEqual([1, 0])
  expect(refused(budget.begin(), 350)).toEqual(busy)
})
