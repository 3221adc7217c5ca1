import { SeededRandom } from '../../test/support/builders/seeded-random.js'

/** Odd requests of a seed: what one connection sends, in portions with pauses between them. */

export interface OddRequest {
  readonly port: 'rest' | 'rpc'
  readonly portions: readonly Buffer[]
  /** Milliseconds between two portions. */
  readonly pause: number
  /** Whether the client ends its side when it has sent all. */
  readonly ends: boolean
}

/** The interface as the node itself describes it, and identifiers that exist on its chain. */
export interface Described {
  /** Paths with their parameters in braces. */
  readonly paths: readonly string[]
  /** Methods that change nothing. */
  readonly methods: readonly string[]
  readonly values: readonly string[]
}

type Draw = <T>(choices: readonly T[]) => T

/** As many requests as asked. */
export function oddRequests(described: Described, seed: number, count: number): OddRequest[] {
  return Array.from({ length: count }, (_, i) => oddRequest(described, new SeededRandom(seed * 1_000_003 + i)))
}

function oddRequest(described: Described, random: SeededRandom): OddRequest {
  const draw: Draw = (choices) => choices[random.below(choices.length)] as never
  const chance = (percent: number) => random.below(100) < percent
  const pipelined = chance(15) ? 2 + random.below(6) : 1
  const messages = Array.from({ length: pipelined }, (_, i) => {
    const isLast = i === pipelined - 1
    return chance(55) ? call(described, draw, chance, isLast) : read(described, draw, chance, isLast)
  })
  const bytes = spoilt(Buffer.concat(messages), random, chance)
  const isSlow = chance(10)
  return {
    port: draw(['rest', 'rest', 'rpc']),
    portions: isSlow ? split(bytes, 2 + random.below(5), random) : [bytes],
    pause: isSlow ? 5 + random.below(20) : 0,
    ends: chance(10),
  }
}

const methods = 'GET GET GET HEAD POST PUT DELETE OPTIONS PATCH TRACE PROPFIND get FOO'.split(' ')
const versions = '1.1 1.1 1.1 1.1 1.1 1.1 1.0 0.9 2.0 1.2 x'.split(' ')
const oddNumbers = '0 -1 1e3 01 4294967296 9007199254740993'.split(' ')
const oddTexts = "null true %00 %2e%2e %ff ü .. * [] {} 😀 '".split(' ')
const oddValues = ['', ...oddNumbers, ...oddTexts, ' ']
const oddHeaders = [
  'Accept: application/did+ld+json',
  'Accept: text/html, */*;q=0.1',
  'Accept: application/xml',
  'Accept-Encoding: gzip',
  'Accept-Encoding: br;q=1, gzip;q=0',
  'Content-Type: text/plain',
  'Content-Encoding: gzip',
  'Origin: http://example.org',
  'Origin: null',
  'Host: example.org',
  'If-None-Match: *',
  'If-None-Match: "x"',
  'Range: bytes=0-10',
  'Expect: 100-continue',
  'Expect: x',
  'Upgrade: websocket',
  'Transfer-Encoding: gzip, chunked',
  'Cookie: a=b',
  'X-Forwarded-For: 1.2.3.4',
  'Authorization: Bearer x',
  'Sec-Fetch-Site: cross-site',
  `X-Long: ${'a'.repeat(3000)}`,
  `X-Longer: ${'a'.repeat(20_000)}`,
  'X Space: a',
  ': a',
  'X-Fold: a\r\n b',
  'X-Bytes: \xff\xfe',
]

const oddJson = '{ [] null 1 "a" {"a":1,"a":2} [[[[[[1]]]]]] \ufeff{} {"method":"\\ud800"}'.split(' ')
const oddBodies = ['', ...oddJson, '['.repeat(3000)]

/** A request without a body, or with one that is not wanted. */
function read(described: Described, draw: Draw, chance: (percent: number) => boolean, isLast: boolean): Buffer {
  const value = () => (chance(60) ? draw(described.values) : draw(oddValues))
  let path = draw(described.paths).replaceAll(/\{[^}]*\}/g, value)
  if (chance(15)) path += draw(['/', '//', '/..', '/x', '%2f', '.json', ';a=b', '#x'])
  if (chance(8))
    path =
      draw(['', '/', '//', '*', 'http://example.org/', '/../', '/%', '/\\', `/${'a'.repeat(5000)}`]) + draw(['', path])
  if (chance(30))
    path += `?${draw(['limit', 'from', 'to', 'height', 'a', 'page', 'accept', 'versionId', ''])}=${value()}`
  if (chance(5)) path += '&limit=1&limit=2'
  const body = chance(8) ? '{"a":1}' : undefined
  return message({ method: chance(70) ? 'GET' : draw(methods), path, body, isLast }, draw, chance)
}

/** A call of a method. */
function call(described: Described, draw: Draw, chance: (percent: number) => boolean, isLast: boolean): Buffer {
  const parameter = (): unknown => {
    const value = draw(described.values)
    return draw([value, draw(oddValues), 0, 1, -1, 1.5, true, null, {}, [], { did: draw(described.values) }, [1]])
  }
  const one = (): unknown => {
    const params = chance(50)
      ? Array.from({ length: draw([0, 1, 1, 2, 3]) }, parameter)
      : Object.fromEntries(
          ['did', 'height', 'id', 'all', 'context', 'x'].filter(() => chance(35)).map((key) => [key, parameter()]),
        )
    const whole: Record<string, unknown> = {
      jsonrpc: '2.0',
      id: draw([1, 'a', null, 1.5, 2 ** 53, '', -1]),
      method: draw(described.methods),
      params,
    }
    if (chance(8)) delete whole[draw(['jsonrpc', 'id', 'method', 'params'])]
    if (chance(8)) whole[draw(['jsonrpc', 'id', 'method', 'params', 'x'])] = parameter()
    return whole
  }
  const usual = JSON.stringify(chance(15) ? Array.from({ length: draw([0, 1, 2, 5, 60]) }, one) : one())
  const body = chance(4) ? draw([...oddBodies, usual + usual]) : usual
  const path = chance(75) ? '/' : draw(['/rpc', '/api/v1', '//', '/x', '/?a=b', '*'])
  return message({ method: chance(92) ? 'POST' : draw(methods), path, body, isLast }, draw, chance)
}

interface Plain {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly isLast: boolean
}

function message({ method, path, body, isLast }: Plain, draw: Draw, chance: (percent: number) => boolean): Buffer {
  const lines = [`${method} ${path} HTTP/${chance(88) ? '1.1' : draw(versions)}`]
  if (!chance(4)) lines.push('Host: 127.0.0.1')
  if (isLast && !chance(5))
    lines.push(`Connection: ${chance(95) ? 'close' : draw(['keep-alive', 'upgrade', 'x', 'close, close'])}`)
  while (chance(25)) lines.push(draw(oddHeaders))
  const bytes = Buffer.from(body ?? '')
  if (body === undefined) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (!chance(5)) lines.push('Content-Type: application/json')
  if (chance(12)) {
    lines.push('Transfer-Encoding: chunked')
    const size = chance(90) ? bytes.length.toString(16) : draw(['x', '-1', 'ffffffffffffffff', '0', ''])
    return Buffer.concat([
      Buffer.from(`${lines.join('\r\n')}\r\n\r\n${size}\r\n`, 'latin1'),
      bytes,
      Buffer.from('\r\n0\r\n\r\n'),
    ])
  }
  const length = chance(94) ? bytes.length : draw([0, 1, bytes.length - 1, bytes.length + 7, -1, 1e12])
  if (!chance(2)) lines.push(`Content-Length: ${length}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}

/** Sometimes changes, takes away or adds a byte. */
function spoilt(bytes: Buffer, random: SeededRandom, chance: (percent: number) => boolean): Buffer {
  if (!chance(8) || bytes.length === 0) return bytes
  const at = random.below(Math.min(bytes.length, 200))
  const byte = Buffer.from(random.bytes(1))
  const from = at + (chance(66) ? 1 : 0)
  return Buffer.concat([bytes.subarray(0, at), ...(chance(66) ? [byte] : []), bytes.subarray(from)])
}

function split(bytes: Buffer, parts: number, random: SeededRandom): Buffer[] {
  const places = Array.from({ length: parts - 1 }, () => random.below(bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
}
