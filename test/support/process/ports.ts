import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { portOffsets } from '../../../src/node/ports.js'

/** Ports of one node, from its base on. */
const portsOfNode = Math.max(...Object.values(portOffsets)) + 1
const [first, end] = [21_000, 32_000]
/** The last places that this file was given: no node may have taken them yet. */
const given: number[] = []
const kept = 32

/**
 * Ports that a node can have again after a stop, as `--port-base` takes them. They lie below those that the system hands
 * out: no connection of another test takes one meanwhile. Nor does another node of this file.
 */
export async function portBase(): Promise<string> {
  for (;;) {
    const place = randomInt(Math.floor((end - first) / portsOfNode))
    if (given.includes(place)) continue
    const base = first + place * portsOfNode
    const free = await Promise.all(Object.values(portOffsets).map((offset) => isFree(base + offset)))
    if (!free.every(Boolean)) continue
    given.push(place)
    if (given.length > kept) given.shift()
    return String(base)
  }
}

/** Whether a port is free at every address of this machine. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
