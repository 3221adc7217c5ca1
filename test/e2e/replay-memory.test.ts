import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WsClient } from '../support/client/ws.js'
import { Directories, NodeProcess } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'

const blocks = rounds(300, 600)
/** Connections, and subscriptions of each, of a round of replays. */
const [connections, subscriptions] = [16, 16]
const repeats = rounds(2, 6)
/** Megabytes by which memory may be larger after all rounds: what the heap happens to hold between two collections. */
const mostGrown = 60

const directories = new Directories()
let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directories.fresh('devnet'))
  const miner = await WsClient.open(node.line.ws)
  for (let made = 0; made < blocks; made += 100) await miner.result('dev_mine', { blocks: 100 })
  await miner.close()
})
afterAll(async () => {
  await node.stop()
  directories.remove()
})

/** Megabytes of the process as the system counts them. */
function resident(): number {
  const status = readFileSync(`/proc/${node.process.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/** Replays all blocks to so many subscriptions at once; milliseconds until the last has the last event. */
async function replay(clients: number, each: number): Promise<number> {
  const began = performance.now()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = await WsClient.open(node.line.ws)
      let count = 0
      client.onEvent = () => count++
      for (let i = 0; i < each; i++) await client.result('subscribe', { topics: ['block'], fromHeight: 0 })
      await client.until(() => count === each * (blocks + 1))
      await client.close()
    }),
  )
  return performance.now() - began
}

describe('replays of events to many subscriptions', () => {
  it('leave resident memory as it was', async () => {
    await replay(1, 1)
    const before = resident()
    for (let round = 0; round < repeats; round++) await replay(connections, subscriptions)
    // The node gives back what it holds for replays.
    await sleep(1000)
    expect(resident() - before).toBeLessThan(mostGrown)
  })

  it('keep nobody from a replay, nor memory, where they are not read', async () => {
    const before = resident()
    const deaf = await Promise.all(Array.from({ length: 64 }, () => WsClient.open(node.line.ws)))
    for (const { ws } of deaf) {
      ;(Reflect.get(ws, '_socket') as Socket).pause()
      const params = { topics: ['block'], fromHeight: 0 }
      for (let id = 0; id < subscriptions; id++) {
        ws.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'subscribe', params }))
      }
    }
    expect(await replay(1, 1)).toBeGreaterThan(0)
    expect(resident() - before).toBeLessThan(mostGrown)
    for (const { ws } of deaf) ws.terminate()
  })
})
