import { randomInt } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { portOffsets } from '../../src/node/ports.js'
import { SeededRandom, Load } from '../support/builders/test-payer.js'
import { stopwatch } from '../support/process/patience.js'
import { type ChainInfo, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const portOf = (url: string) => Number(new URL(url).port)

/** A connection with half a request on it. */
function halfRequest(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('POST /api/v1/transaction HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{', () =>
        resolve(socket),
      )
    })
    socket.on('error', (error) => (socket.connecting ? reject(error) : undefined))
  })
}

describe('stopping', () => {
  it('takes less than five seconds under load and loses nothing', async () => {
    const dataDir = directories.fresh()
    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    const load = new Load(new SeededRandom(3))
    await load.prepare(node.client, 100)
    let stopped = false
    const sending = load.send(node.client, () => stopped)
    // Rejected when the node goes.
    const mining = node.client.rpc('dev_mine', { blocks: 10_000 }).catch((error: unknown) => error)
    const socket = await halfRequest(portOf(node.line.rest))
    while (load.acknowledged.size < 100) await new Promise((resolve) => setTimeout(resolve, 10))

    const elapsed = stopwatch()
    expect(await node.stop('SIGTERM')).toMatchObject({ code: 0, err: '' })
    expect(elapsed()).toBeLessThan(5000)
    stopped = true
    await Promise.all([sending, mining])
    socket.destroy()

    const again = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    for (const txid of load.acknowledged) expect(await again.client.transaction(txid), txid).toBeDefined()
    await again.stop()
    const { height, tip, state } = await runJson<ChainInfo>('chain', 'info', '--data-dir', dataDir)
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toEqual({ height, tip, state, ok: true })
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('a second %s ends it at once', async (signal) => {
    const node = await NodeProcess.start('devnet')
    const socket = await halfRequest(portOf(node.line.rest))
    node.process.kill(signal)
    // The request under way holds the first one up.
    const early = await Promise.race([node.process.finished, new Promise((resolve) => setTimeout(resolve, 700))])
    expect(early).toBeUndefined()
    const elapsed = stopwatch()
    expect(await node.stop(signal)).toMatchObject({ code: 130 })
    expect(elapsed()).toBeLessThan(1000)
    socket.destroy()
  })
})

describe('a port in use', () => {
  it('is named, with what to do, and nothing is left behind', async () => {
    // Below the ports that the system hands out: connections of other tests have none of these.
    const base = randomInt(26_000, 31_000)
    const node = await NodeProcess.start('devnet', '--port-base', String(base))
    const port = portOf(node.line.rest)
    const dataDir = directories.fresh()
    for (const offset of [portOffsets.rest, portOffsets.ws, portOffsets.rpc]) {
      const { code, out, err } = await run('devnet', '--port-base', String(port - offset), '--data-dir', dataDir)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toMatch(new RegExp(`^error: port ${port} of .* is in use; .*--port-base`))
    }
    expect((await node.get('block/height')).body.Result).toBe(0)
    await node.stop()
    const later = await NodeProcess.start('devnet', '--data-dir', dataDir)
    expect((await later.stop()).code).toBe(0)
  })
})
