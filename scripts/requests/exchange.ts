import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { OddRequest } from './odd-requests.js'

/** Milliseconds without a byte after which a connection that the server keeps open counts as answered. */
const quiet = 1500

/** Texts that differ from one moment to the next, or name a build, with their replacements. */
const moments: readonly (readonly [RegExp, string])[] = [
  [/\r\nDate: [^\r]*/gi, '\r\nDate: now'],
  [/(content-type: text\/html[^\r]*\r\netag: )"[^"]*"/gi, '$1"page"'],
  [/("(?:PRC|Rest|WS)Port":)\d+/g, '$10'],
  [/content-length: \d+(\r\nDate: now\r\nConnection: [^]*?\r\n\r\n)# HELP [^]*?(?=HTTP\/1|\n<)/gi, '$1figures'],
  [/(content-type: text\/plain; version=0\.0\.4[^]*?content-length: )\d+/gi, '$1n'],
  [/(assets\/\w+)-[\w-]{8}\./g, '$1-hash.'],
  // Numbers of moments make a body longer or shorter.
  [/(content-length: )\d+(?=[^]*"(?:age|uptime|time)":)/gi, '$1n'],
  [/("(?:uptime|time|age|seconds|elapsed|memory|load|pid|startedAt|now|lastSeen|port)":)[\d.]+/g, '$10'],
  [/(X-Chain-Age: )\d+/gi, '$10'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:port'],
  [/localhost:\d+/g, 'localhost:port'],
]

export interface Ports {
  readonly rest: number
  readonly rpc: number
}

/** All that a server sends on one connection, without what only time decides. */
export async function answerTo({ port, portions, pause, ends }: OddRequest, ports: Ports): Promise<string> {
  const socket = connect({ port: ports[port], host: '127.0.0.1', allowHalfOpen: true })
  const parts: Buffer[] = []
  let how = 'quiet'
  const over = new Promise<void>((resolve) => {
    const finish = (what: string) => () => {
      how = what
      resolve()
    }
    socket.on('data', (part: Buffer) => parts.push(part))
    socket.on('end', finish('end'))
    socket.on('error', finish('reset'))
    socket.setTimeout(quiet, () => resolve())
  })
  for (const [i, portion] of portions.entries()) {
    if (i > 0) await setTimeout(pause)
    if (!socket.writable) break
    socket.write(portion)
  }
  if (ends) socket.end()
  await over
  socket.destroy()
  const text = withoutPortions(Buffer.concat(parts).toString('latin1'))
  // A reset can overtake the answer before it; how many bytes arrive is chance.
  if (how === 'reset') return 'reset'
  return moments.reduce((said, [pattern, other]) => said.replaceAll(pattern, other), `${text}\n<${how}>`)
}

/** Head of an answer in portions, up to its first one. */
const inPortions = /HTTP\/1\.[01] [^]*?\r\n\r\n/g

/** Joins the portions of bodies, and unpacks them: where a server divides an answer means nothing to its readers. */
function withoutPortions(text: string): string {
  let joined = ''
  let at = 0
  for (;;) {
    inPortions.lastIndex = at
    const [head] = inPortions.exec(text) ?? []
    if (head === undefined) return joined + text.slice(at)
    const start = inPortions.lastIndex
    joined += text.slice(at, start)
    at = start
    if (!/\r\ntransfer-encoding: chunked\r\n/i.test(head)) continue
    const { body, end } = readPortions(text, start)
    const isPacked = /\r\ncontent-encoding: gzip\r\n/i.test(head)
    joined += isPacked && end !== undefined ? gunzipSync(Buffer.from(body, 'latin1')).toString('latin1') : body
    at = end ?? text.length
  }
}

/** The body in portions from a place on, and where the last one ends; undefined: it is cut off. */
function readPortions(text: string, from: number): { readonly body: string; readonly end: number | undefined } {
  let body = ''
  for (let at = from; ;) {
    const line = text.indexOf('\r\n', at)
    const size = line < 0 ? Number.NaN : Number.parseInt(text.slice(at, line), 16)
    if (Number.isNaN(size) || line + 4 + size > text.length) return { body: body + text.slice(at), end: undefined }
    body += text.slice(line + 2, line + 2 + size)
    at = line + 4 + size
    if (size === 0) return { body, end: at }
  }
}
