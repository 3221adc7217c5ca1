import { randomInt } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AnswerAdmission, type Holder, SharedBytes } from '../../../../../src/answers/api/streams/admission.js'
import { type ApiLimits, apiLimits } from '../../../../../src/answers/api/api-limits.js'
import type { AnswerClient } from '../../../../../src/answers/api/node-handles.js'
import { type AnswerReader, SharedAnswers } from '../../../../../src/answers/api/streams/shared-answer.js'
import { StreamedAnswer, type Sink } from '../../../../../src/answers/api/streams/streamed-answer.js'

const limits: ApiLimits = {
  ...apiLimits,
  answers: 4,
  answerPlace: 1,
  largeTransactions: 100,
  searches: 100,
  answersWaiting: 4,
  answerPart: 10,
  answerWindow: 50,
  answerLag: 5,
}
const busy = expect.objectContaining({ code: 'busy' })

interface TestClient extends AnswerClient {
  leave(): void
}

function client(share = 'a'): TestClient {
  const abort = new AbortController()
  return { share, signal: abort.signal, leave: () => abort.abort(new Error('gone')) }
}

/** An answer of pieces, and how it was made. */
function answerOf(pieces: readonly string[], key = 'key', repeatable = true) {
  const made = { begun: 0, pieces: 0, ended: 0 }
  const write = async (sink: Sink) => {
    made.begun++
    try {
      for (const piece of pieces) {
        made.pieces++
        sink.add(piece)
        if (sink.due) await sink.drain()
      }
    } finally {
      made.ended++
    }
  }
  return { made, answer: new StreamedAnswer({ key, repeatable, write }) }
}

async function textOf(reader: AnswerReader, pause: () => Promise<unknown> = nextTurn): Promise<string> {
  const parts: Buffer[] = []
  for (let part = await reader.next(); part !== undefined; part = await reader.next()) {
    parts.push(part)
    await pause()
  }
  return Buffer.concat(parts).toString()
}

const settled = async () => {
  for (let i = 0; i < 20; i++) await nextTurn()
}

describe('an answer under way', () => {
  it('is the same text for every client that stays, whatever the others do', async () => {
    const clients = fc.array(
      fc.record({ pauses: fc.integer({ min: 0, max: 12 }), leavesAfter: fc.option(fc.nat(12)), late: fc.nat(3) }),
      { minLength: 1, maxLength: 6 },
    )
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 25 }), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(texts, clients, async (pieces, plans) => {
        const sharedAnswers = new SharedAnswers(new AnswerAdmission({ ...limits, answers: 100 }))
        const { answer, made } = answerOf(pieces)
        const whole = pieces.join('')
        await Promise.all(
          plans.map(async ({ pauses, leavesAfter, late }) => {
            for (let i = 0; i < late; i++) await nextTurn()
            const one = client()
            const reader = sharedAnswers.join(answer, one)
            let parts = 0
            const read = textOf(reader, async () => {
              if (parts++ === leavesAfter) one.leave()
              await sleep(pauses)
            })
            if (leavesAfter === null) expect(await read).toBe(whole)
            // One that leaves may have had everything before.
            else
              await read
                .then((text) => expect(text).toBe(whole))
                .catch((error: Error) => expect(error.message).toMatch(/no client|gone/))
          }),
        )
        await settled()
        expect(made.ended).toBe(made.begun)
      }),
      { numRuns: 150, seed: Number(process.env['DIDLEDGER_SEED'] ?? randomInt(2 ** 31)) },
    )
  })

  it('is made once for all that ask before its beginning is let go', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
    const { answer, made } = answerOf(Array.from({ length: 100 }, (_, i) => `piece ${i}`))
    const readers = Array.from({ length: 50 }, () => sharedAnswers.join(answer, client()))
    const texts = await Promise.all(readers.map((reader) => textOf(reader)))
    expect(new Set(texts).size).toBe(1)
    expect(made).toMatchObject({ begun: 1, pieces: 100 })
  })

  it('is made once for keys of any length that are equal, and keeps none of megabytes', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
    const parameter = 'x'.repeat(4 * 1024 * 1024)
    const [first, same, other] = ['1', '1', '2'].map((end) => answerOf([end], parameter + end)) as [
      ReturnType<typeof answerOf>,
      ReturnType<typeof answerOf>,
      ReturnType<typeof answerOf>,
    ]
    expect(first.answer.key.length).toBeLessThan(256)
    const readers = [first, same, other].map(({ answer }) => sharedAnswers.join(answer, client()))
    expect(await Promise.all(readers.map((reader) => textOf(reader)))).toEqual(['1', '1', '2'])
    expect([first, same, other].map(({ made }) => made.begun)).toEqual([1, 0, 1])
  })

  it('goes no further than the window ahead of its readers', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
    const { answer, made } = answerOf(Array.from({ length: 1000 }, () => 'x'.repeat(10)))
    const reader = sharedAnswers.join(answer, client())
    await reader.ready()
    await settled()
    expect(made.pieces).toBeLessThanOrEqual(6)
    await reader.next()
    await settled()
    expect(made.pieces).toBeLessThanOrEqual(7)
    reader.close()
    await settled()
    expect(made).toMatchObject({ ended: 1 })
    expect(made.pieces).toBeLessThanOrEqual(8)
  })

  it('ends at once when its last client leaves, waiting or begun', async () => {
    // Four have places, and one waits for its reader beside them.
    const gate = new AnswerAdmission({ ...limits, unreadAnswers: 1 })
    const sharedAnswers = new SharedAnswers(gate)
    const many = Array.from({ length: 100 }, () => 'x'.repeat(10))
    const begun = Array.from({ length: 6 }, (_, i) => {
      const one = client()
      const { answer, made } = answerOf(many, `key ${i}`)
      return { one, made, reader: sharedAnswers.join(answer, one) }
    })
    await settled()
    expect(begun.map(({ made }) => made.begun)).toEqual([1, 1, 1, 1, 1, 0])
    for (const { one } of begun) one.leave()
    await settled()
    expect(begun.map(({ made }) => made.ended)).toEqual([1, 1, 1, 1, 1, 0])
    const after = answerOf(many, 'after')
    expect(await textOf(sharedAnswers.join(after.answer, client()))).toBe(many.join(''))
  })

  it('is not begun for a client that leaves in the turn in which it came', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
    const { answer, made } = answerOf(['text'])
    const one = client()
    const reader = sharedAnswers.join(answer, one)
    await Promise.resolve()
    one.leave()
    await settled()
    expect(made.begun).toBe(0)
    await expect(reader.ready()).rejects.toMatchObject({ code: 'request-timeout' })
  })

  it('leaves a slow reader to a production of its own, from where that one was', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
    const pieces = Array.from({ length: 60 }, (_, i) => `${i}`.padStart(10))
    const { answer, made } = answerOf(pieces)
    const slow = sharedAnswers.join(answer, client())
    const quick = sharedAnswers.join(answer, client())
    expect((await slow.next())?.toString()).toBe(pieces[0])
    expect(await textOf(quick)).toBe(pieces.join(''))
    expect(await textOf(slow)).toBe(pieces.slice(1).join(''))
    expect(made.begun).toBe(2)
  })

  it('cuts off a slow reader where a second text could differ', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
    const pieces = Array.from({ length: 60 }, (_, i) => `${i}`.padStart(10))
    const { answer, made } = answerOf(pieces, 'key', false)
    const slow = sharedAnswers.join(answer, client())
    const quick = sharedAnswers.join(answer, client())
    await slow.next()
    expect(await textOf(quick)).toBe(pieces.join(''))
    await expect(textOf(slow)).rejects.toEqual(busy)
    expect(made.begun).toBe(1)
  })

  it('fails for all with what it was refused for', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission(limits))
    const failing = new StreamedAnswer({
      key: 'key',
      repeatable: true,
      write: async () => {
        await nextTurn()
        throw new Error('broken')
      },
    })
    const readers = [sharedAnswers.join(failing, client()), sharedAnswers.join(failing, client())]
    for (const reader of readers) await expect(reader.ready()).rejects.toThrow('broken')
    expect((await sharedAnswers.join(answerOf(['x']).answer, client()).ready()).whole).toBe(true)
  })
})

describe('answers that are not read', () => {
  const many = Array.from({ length: 100 }, () => 'x'.repeat(10))
  /** Answers to so many clients of a share that never read, begun one after the other. */
  const unreadOf = async (sharedAnswers: SharedAnswers, share: string, count: number) => {
    const all = []
    for (let i = 0; i < count; i++) {
      const { answer, made } = answerOf(many, `${share} ${i}`)
      const one = client(share)
      all.push({ made, one, reader: sharedAnswers.join(answer, one) })
      await settled()
    }
    return all
  }
  const whole = (sharedAnswers: SharedAnswers, share: string) =>
    textOf(sharedAnswers.join(answerOf(many, 'whole').answer, client(share)))
  const begun = (all: readonly { made: { begun: number } }[]) => all.filter(({ made }) => made.begun > 0).length

  it('hold no place, however many they are, nor room for what is large', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission({ ...limits, answers: 1 }))
    const large = Array.from({ length: 5 }, (_, i) => {
      const write = async (sink: Sink) => {
        const release = await sink.reserve(100)
        for (const piece of many) {
          sink.add(piece)
          if (sink.due) await sink.drain()
        }
        release()
      }
      return sharedAnswers.join(new StreamedAnswer({ key: `large ${i}`, repeatable: true, write }), client())
    })
    await settled()
    expect(await whole(sharedAnswers, 'a')).toBe(many.join(''))
    expect(await Promise.all(large.map((reader) => textOf(reader)))).toEqual(Array(5).fill(many.join('')))
  })

  it('go on when they are read, and are the same text', async () => {
    const sharedAnswers = new SharedAnswers(new AnswerAdmission({ ...limits, answers: 1 }))
    const all = await unreadOf(sharedAnswers, 'a', 8)
    expect(await whole(sharedAnswers, 'b')).toBe(many.join(''))
    const texts = await Promise.all(all.map(({ reader }, i) => textOf(reader, () => sleep(i % 3))))
    expect(texts).toEqual(Array(8).fill(many.join('')))
    expect(begun(await unreadOf(sharedAnswers, 'c', 2))).toBe(2)
  })

  it('keep within their bound: the next one keeps its place, and another waits until one is ended for its slowness', async () => {
    const sharedAnswers = new SharedAnswers(
      new AnswerAdmission({ ...limits, answers: 1, unreadAnswers: 3, answerGrace: 700 }),
    )
    const all = await unreadOf(sharedAnswers, 'a', 5)
    expect(all.map(({ made }) => made.begun)).toEqual([1, 1, 1, 1, 0])
    expect(await whole(sharedAnswers, 'a')).toBe(many.join(''))
    const failed = await Promise.all(
      all.map(async ({ reader }) => (await textOf(reader).catch(() => 'ended')) === 'ended'),
    )
    expect(failed).toContain(true)
  })

  it('make way for those of a share that leaves less, the one that was read last after the others', async () => {
    const sharedAnswers = new SharedAnswers(
      new AnswerAdmission({ ...limits, answers: 1, unreadAnswers: 3, answerGrace: 60_000 }),
    )
    const greedy = await unreadOf(sharedAnswers, 'a', 3)
    await sleep(50)
    expect((await greedy[0]?.reader.next())?.length).toBeGreaterThan(0)
    await sleep(20)
    const [modest] = await unreadOf(sharedAnswers, 'b', 1)
    expect(await whole(sharedAnswers, 'c')).toBe(many.join(''))
    await expect(textOf(greedy[1]?.reader as AnswerReader)).rejects.toEqual(busy)
    expect(await textOf(greedy[0]?.reader as AnswerReader)).not.toBe('')
    expect(await textOf(modest?.reader as AnswerReader)).toBe(many.join(''))
  })

  it('count no more once their clients are gone', async () => {
    const sharedAnswers = new SharedAnswers(
      new AnswerAdmission({ ...limits, answers: 1, unreadAnswers: 3, answerGrace: 60_000 }),
    )
    for (let round = 0; round < 3; round++) {
      const all = await unreadOf(sharedAnswers, `a ${round}`, 4)
      expect(begun(all)).toBe(4)
      for (const { one } of all) one.leave()
      await settled()
      expect(all.map(({ made }) => made.ended)).toEqual([1, 1, 1, 1])
    }
  })
})

describe('the gate', () => {
  const holder = (share: string, slow = false): Holder & { evicted: boolean } => ({
    share,
    slow,
    evicted: false,
    evict() {
      this.evicted = true
    },
  })
  const never = new AbortController().signal

  it('never gives more than it has, and gives all of it back', async () => {
    const steps = fc.array(
      fc.record({ bytes: fc.integer({ min: 1, max: 12 }), share: fc.constantFrom('a', 'b'), hold: fc.nat(5) }),
      {
        maxLength: 30,
      },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (plans) => {
        const shared = new SharedBytes(10, { ...limits, answersWaiting: 1000 })
        let held = 0
        await Promise.all(
          plans.map(async ({ bytes, share, hold }) => {
            const release = await shared.take(bytes, holder(share), never)
            held += Math.min(bytes, 10)
            expect(held).toBeLessThanOrEqual(10)
            for (let i = 0; i < hold; i++) await nextTurn()
            held -= Math.min(bytes, 10)
            release()
            release()
          }),
        )
        expect(held).toBe(0)
        const all = await shared.take(10, holder('c'), never)
        all()
      }),
      { numRuns: 200 },
    )
  })

  it('refuses what comes when enough wait, the share that takes most first', async () => {
    const shared = new SharedBytes(1, limits)
    const release = await shared.take(1, holder('a'), never)
    const waiting = Array.from({ length: 4 }, () => shared.take(1, holder('a'), never))
    const outcomes = waiting.map((one) =>
      one.then(
        (free) => {
          free()
          return 'served'
        },
        () => 'refused',
      ),
    )
    await expect(shared.take(1, holder('a'), never)).rejects.toEqual(busy)
    const other = shared.take(1, holder('b'), never)
    release()
    ;(await other)()
    expect(await Promise.all(outcomes)).toEqual(['served', 'served', 'served', 'refused'])
  })

  it('serves the share first that holds least', async () => {
    const shared = new SharedBytes(2, limits)
    const first = await shared.take(1, holder('a'), never)
    await shared.take(1, holder('a'), never)
    const order: string[] = []
    const [one, two, other] = ['a', 'a', 'b'].map(async (share) => {
      const release = await shared.take(1, holder(share), never)
      order.push(share)
      return release
    })
    first()
    const release = await other
    expect(order).toEqual(['b'])
    release?.()
    for (const waiting of [one, two]) (await waiting)?.()
    expect(order).toEqual(['b', 'a', 'a'])
  })

  it('refuses one that has waited too long, and lets go of one whose client left', async () => {
    const shared = new SharedBytes(1, { ...limits, answersPatience: 20 })
    const release = await shared.take(1, holder('a'), never)
    await expect(shared.take(1, holder('a'), never)).rejects.toEqual(busy)
    const abort = new AbortController()
    const left = shared.take(1, holder('a'), abort.signal)
    abort.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    release()
    ;(await shared.take(1, holder('a'), never))()
  })

  it('ends what is read too slowly while others wait, and nothing else', async () => {
    const shared = new SharedBytes(2, limits)
    const slow = holder('a', true)
    const quick = holder('a')
    const release = await shared.take(1, slow, never)
    await shared.take(1, quick, never)
    await sleep(1200)
    expect(slow.evicted).toBe(false)
    const next = shared.take(1, holder('b'), never)
    await expect.poll(() => slow.evicted, { timeout: 10_000 }).toBe(true)
    expect(quick.evicted).toBe(false)
    release()
    await next
  })

  it('lets productions begin together unless their first steps take long', async () => {
    const gate = new AnswerAdmission(limits)
    const { signal } = client()
    /** In how many turns twenty productions begin whose first steps take so many milliseconds. */
    const turnsOf = async (milliseconds: number): Promise<number> => {
      let turn = 0
      const begun: number[] = []
      const produce = async () => {
        begun.push(turn)
        const start = performance.now()
        while (performance.now() - start < milliseconds);
      }
      const all = Promise.all(Array.from({ length: 20 }, () => gate.begin(produce, signal)))
      while (begun.length < 20) {
        await nextTurn()
        turn++
      }
      await all
      return new Set(begun).size
    }
    expect(await turnsOf(0)).toBeLessThan(10)
    expect(await turnsOf(5)).toBe(20)
  })

  it('goes on after a production that failed, and lets none begin whose client left', async () => {
    const gate = new AnswerAdmission(limits)
    const [stays, leaves] = [client(), client()]
    const begun: string[] = []
    const failing = gate.begin(() => Promise.reject(new Error('broken')), stays.signal)
    const left = gate.begin(async () => void begun.push('left'), leaves.signal)
    const after = gate.begin(async () => void begun.push('after'), stays.signal)
    leaves.leave()
    await expect(failing).rejects.toThrow('broken')
    await expect(left).rejects.toThrow('gone')
    await after
    expect(begun).toEqual(['after'])
  })

  it('lets one production work in each turn of the event loop', async () => {
    const gate = new AnswerAdmission(limits)
    let turn = 0
    let counting = true
    const count = () => {
      turn++
      if (counting) setImmediate(count)
    }
    setImmediate(count)
    const turns = await Promise.all(Array.from({ length: 10 }, () => gate.turn().then(() => turn)))
    counting = false
    expect(new Set(turns).size).toBe(10)
  })
})
