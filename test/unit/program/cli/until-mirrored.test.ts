import { describe, expect, it } from 'vitest'
import type { Standing } from '../../../../src/answers/resolver/standing.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import type { SyncProgress } from '../../../../src/network/sync/sync-progress.js'
import { type MirroringNode, requireNode, untilMirrored } from '../../../../src/program/cli/until-mirrored.js'
import { testSpec } from '../../../support/builders/spec.js'
import { portBase } from '../../../support/process/ports.js'

const url = 'http://127.0.0.1:20334'
const spec = parseSpec(testSpec({}))

/** A follower that changes with the time, in seconds, and how long it is waited for. */
async function wait(
  at: (second: number) => { height?: number; headers?: number; mirrored?: number; failures?: number; inStep?: boolean },
) {
  let time = 0
  const now = () => at(time / 1000)
  const node: MirroringNode = {
    spec,
    chain: {
      tip: {
        header: {
          get height() {
            return now().height ?? 0
          },
        },
      },
    },
    get mirror() {
      return { figures: { height: now().mirrored, failures: now().failures ?? 0 } }
    },
    sync: () =>
      ({ stage: 'headers', height: now().headers ?? 0, target: 1000, rate: time, catchingUp: true }) as SyncProgress,
    standing: () => {
      const { inStep = false, height = 0 } = now()
      return (
        inStep ? { inStep, height, age: 0 } : { inStep, height, missing: 'no peer has shown its chain yet' }
      ) as Standing
    },
  }
  const pause = async (milliseconds: number) => {
    time += milliseconds
    if (time > 3_600_000) throw new Error('it waits without end')
  }
  const failure = await untilMirrored(node, url, { now: () => time, pause }).then(
    () => undefined,
    (error: Error) => error.message,
  )
  return { seconds: Math.round(time / 1000), failure }
}

describe('mirror --once', () => {
  it('ends when the files are as of the tip of a chain in step', async () => {
    expect(await wait((second) => ({ height: 9, mirrored: second < 20 ? 8 : 9, inStep: true }))).toEqual({
      seconds: 20,
      failure: undefined,
    })
    // Files that are as of an older block than the one that is known are none of the tip.
    expect((await wait((second) => ({ height: 9, mirrored: 9, inStep: second >= 5 }))).seconds).toBe(5)
  })

  it('gives up on a node from which nothing comes for a minute, and says what is missing', async () => {
    const { seconds, failure } = await wait(() => ({ height: 4 }))
    expect(seconds).toBe(60)
    expect(failure).toContain(
      `nothing came from ${url} for 60 s at height 4: no peer has shown its chain yet; there is no head yet`,
    )
    expect(await wait((second) => ({ height: 4, mirrored: 3, headers: second < 50 ? 1 : 2 }))).toEqual({
      seconds: 110,
      failure: expect.stringContaining('the head is of block 3'),
    })
  })

  it('goes on as long as blocks or headers come, and while a mirror in step is being written', async () => {
    const slow = await wait((second) => ({ height: Math.floor(second / 59), inStep: second >= 590, mirrored: 10 }))
    expect(slow).toEqual({ seconds: 590, failure: undefined })
    const headers = await wait((second) => {
      const joined = second >= 590
      return { headers: Math.floor(second / 59), height: joined ? 9 : 0, inStep: joined, mirrored: 9 }
    })
    expect(headers.failure).toBeUndefined()
    const large = await wait((second) => ({ height: 9, inStep: true, mirrored: second < 1800 ? 0 : 9 }))
    expect(large).toEqual({ seconds: 1800, failure: undefined })
  })

  it('gives up when five steps of the mirror fail one after another', async () => {
    const failing = (failures: number) =>
      wait((second) => ({
        height: 9,
        inStep: true,
        failures: second < 10 ? failures : 0,
        mirrored: second < 10 ? 0 : 9,
      }))
    expect(await failing(4)).toEqual({ seconds: 10, failure: undefined })
    expect(await failing(5)).toEqual({ seconds: 0, failure: expect.stringContaining('5 tries failed') })
  })

  it('asks first whether a node is there', async () => {
    const closed = `http://127.0.0.1:${await portBase()}`
    await expect(requireNode(closed)).rejects.toThrow(`no node listens at ${closed}; see whether the node runs`)
  })
})
