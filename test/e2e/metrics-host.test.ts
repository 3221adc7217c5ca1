import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { parseMetrics, sampleOf } from '../support/assert/prometheus.js'
import { Directories, NodeProcess } from '../support/process/spawn.js'

const directories = new Directories()
let node: NodeProcess | undefined
afterEach(async () => {
  await node?.stop('SIGKILL')
  node = undefined
})
afterAll(() => directories.remove())

async function start(...args: readonly string[]): Promise<NodeProcess['line']> {
  node = await NodeProcess.start('devnet', '--data-dir', directories.fresh(), ...args)
  return node.line
}

async function get(url: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { headers })
  return { status: response.status, text: await response.text() }
}

describe('/metrics', () => {
  it('is on the port of REST without --metrics-host', async () => {
    const line = await start()
    expect(line).not.toHaveProperty('metrics')
    const { status, text } = await get(`${line.rest}/metrics`)
    expect(status).toBe(200)
    const families = parseMetrics(text)
    const free = sampleOf(families, 'didledger_disk_free_bytes') as number
    expect(free).toBeGreaterThan(0)
    expect(free).toBeLessThanOrEqual(sampleOf(families, 'didledger_disk_size_bytes') as number)
  })

  it('is on a port of its own with it, and on no other', async () => {
    const line = await start('--metrics-host', '127.0.0.1')
    const metrics = line.metrics ?? ''
    expect(new URL(metrics).port).not.toBe(new URL(line.rest).port)
    expect(await get(metrics)).toMatchObject({ status: 200, text: expect.stringContaining('didledger_in_step 1\n') })
    expect((await get(metrics, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await get(`${line.rest}/metrics`)).status).toBe(404)
    expect((await get(`${line.rest}/readyz`)).status).toBe(200)
    expect((await get(new URL('/readyz', metrics).href)).status).toBe(404)
  })
})
