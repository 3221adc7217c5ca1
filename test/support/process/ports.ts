import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { portOffsets } from '../../../src/node/ports.js'

/**
 * Ports that a node can have again after a stop, as `--port-base` takes them. They lie below those that the system hands
 * out: no connection of another test takes one meanwhile.
 */
export async function portBase(): Promise<string> {
  for (;;) {
    const base = randomInt(21_000, 32_000)
    const free = await Promise.all(Object.values(portOffsets).map((offset) => isFree(base + offset)))
    if (free.every(Boolean)) return String(base)
  }
}

/** Whether a port is free at every address of this machine. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
