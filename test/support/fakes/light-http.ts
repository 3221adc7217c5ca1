import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProofBook } from '../builders/proof-book.js'
import { lightServers, type Lies } from './light-server.js'

/** A server of proofs on a port of this machine, for commands. */
export interface LightHttp {
  readonly url: string
  close(): Promise<void>
}

export async function serveProofs(book: ProofBook, lies: Lies = {}): Promise<LightHttp> {
  const answer = lightServers({ node: { book, lies } })
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method = 'GET', url = '/' } = request
      const body = Buffer.concat(parts).toString()
      void answer(`http://node${url}`, { method, ...(method === 'POST' && { body }) }).then(async (sent) => {
        response.writeHead(sent.status, { 'content-type': 'application/json' }).end(await sent.text())
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
