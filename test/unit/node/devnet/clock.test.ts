import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../../src/node/devnet/clock.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { meta } from '../../../../src/ledger/storage/rows/tables.js'
import { memoryStore } from '../../../support/builders/chain.js'

const start = 1_700_000_000

async function clockOf(database?: Database) {
  const real = { time: start * 1000, now: () => real.time }
  const rows = database ?? (await Database.over(memoryStore()))
  const clock = new VirtualClock(real, rows)
  /** A block with this time connects. */
  const connect = async (time: number) => {
    const overlay = new Overlay(rows)
    clock.stage(overlay, { connected: [{ header: { time } }] })
    await overlay.commit({ kind: 'block', height: 1, hash: new Uint8Array(32) }, { sync: false })
    await clock.follow()
  }
  return { real, clock, rows, connect }
}

describe('the clock of a devnet', () => {
  it('is the real one until it is moved', async () => {
    const { real, clock } = await clockOf()
    expect(clock.now()).toBe(start * 1000)
    real.time += 1500
    expect(clock.seconds).toBe(start + 1)
    clock.increase(3600)
    expect(clock.seconds).toBe(start + 3601)
  })

  it('gives every block a later time than its parent', async () => {
    const { clock } = await clockOf()
    expect(clock.blockTime(start - 100)).toBe(start)
    expect(clock.blockTime(start)).toBe(start + 1)
    expect(clock.blockTime(start + 50)).toBe(start + 51)
  })

  it('is dragged along by blocks ahead of it, and by no others', async () => {
    const { clock, connect } = await clockOf()
    await connect(start + 10)
    expect(clock.seconds).toBe(start + 10)
    await connect(start + 5)
    expect(clock.seconds).toBe(start + 10)
  })

  it('goes on where it was after a restart', async () => {
    const { clock, connect, rows } = await clockOf()
    clock.increase(1000)
    await connect(start + 1)
    const { clock: again } = await clockOf(rows)
    expect(again.seconds).toBe(start + 1000)
    expect(rows.get(meta.clock.key)).toHaveLength(8)
  })

  it('gives the next block the time that was asked for, once', async () => {
    const { clock, connect } = await clockOf()
    clock.setNextBlockTime(start + 500, start)
    expect(clock.blockTime(start)).toBe(start + 500)
    await connect(start + 500)
    expect(clock.blockTime(start + 500)).toBe(start + 501)
    expect(clock.seconds).toBe(start + 500)
  })

  it('takes a time before the clock, but none that is not after the tip', async () => {
    const { clock } = await clockOf()
    clock.setNextBlockTime(start - 10, start - 20)
    expect(clock.blockTime(start - 20)).toBe(start - 10)
    expect(() => clock.setNextBlockTime(start - 20, start - 20)).toThrow(
      /^time: \d+ \(\d{4}-\d\d-\d\dT[\d:]+Z\) is not after the tip's time, \d+ \(\d{4}-\d\d-\d\dT[\d:]+Z\)$/,
    )
  })

  it('forgets a time that a block already under way has passed', async () => {
    const { clock, connect } = await clockOf()
    clock.setNextBlockTime(start + 5, start)
    await connect(start + 9)
    expect(clock.blockTime(start + 9)).toBe(start + 10)
    await connect(start + 10)
    expect(clock.blockTime(start + 10)).toBe(start + 11)
  })
})
