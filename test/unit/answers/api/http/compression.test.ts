import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import zlib from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { apiLimits } from '../../../../../src/answers/api/api-limits.js'
import { Access } from '../../../../../src/answers/api/http/access.js'
import { accessDefaults } from '../../../../../src/answers/api/http/access-options.js'
import { jsonForm } from '../../../../../src/answers/api/http/answer-forms.js'
import {
  codedHeaders,
  compressed,
  compressedAtOnce,
  mostAtOnce,
} from '../../../../../src/answers/api/http/compression.js'
import { coders, codingFor, leastCompressed } from '../../../../../src/answers/api/http/content-coding.js'
import { HeaderList } from '../../../../../src/answers/api/http/header-list.js'
import { HttpPort } from '../../../../../src/answers/api/http/http-port.js'
import type { HttpAnswer } from '../../../../../src/answers/api/http/path-row.js'
import type { AnswerStream } from '../../../../../src/answers/api/streams/answer-stream.js'
import { quietLog } from '../../../../support/builders/chain.js'
import { eventually } from '../../../../support/process/patience.js'

const opened: HttpPort[] = []
afterEach(async () => {
  for (const port of opened.splice(0)) await port.close()
})

/** Serves answers by their paths. */
async function serve(answers: Readonly<Record<string, () => HttpAnswer>>): Promise<number> {
  const rows = Object.entries(answers).map(([path, run]) => ({
    ...{ path, run, form: jsonForm('standard') },
    methods: ['GET' as const],
  }))
  const access = new Access(accessDefaults, undefined)
  const place = { hosts: ['127.0.0.1'], port: 0, limits: apiLimits, log: quietLog() }
  const port = await HttpPort.open({ ...place, rows, access })
  opened.push(port)
  return port.port
}

/** Begins a request; nothing is decompressed. */
async function begin(port: number, path: string, accepted?: string, method = 'GET'): Promise<IncomingMessage> {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

async function ask(port: number, path: string, accepted?: string, method?: string) {
  const response = await begin(port, path, accepted, method)
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  const { 'content-encoding': coding, vary, 'content-length': length } = response.headers
  return { coding, vary, length, bytes: Buffer.concat(parts) }
}

const json = { 'content-type': 'application/json; charset=utf-8' }
const decoders = new Map([
  ['gzip', (bytes: Buffer) => zlib.gunzipSync(bytes)],
  [
    'zstd',
    (bytes: Buffer) => (zlib as unknown as { zstdDecompressSync(bytes: Buffer): Buffer }).zstdDecompressSync(bytes),
  ],
])
/** One byte in UTF-8 for each character. */
const text = (length: number) => '{"a":1}'.repeat(length).slice(0, length)

async function* parts(count: number, part = text(10_000)): AnswerStream {
  for (let i = 0; i < count; i++) yield i % 2 === 0 ? part : Buffer.from(part)
}

describe('the coding of a header', () => {
  it.each([
    ['gzip', 'gzip'],
    ['GZIP ; Q=0.5', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd;q=0.4, gzip;q=0.5', 'gzip'],
    ['*', 'zstd'],
    ['zstd;q=0, *', 'gzip'],
    ['identity;q=0, gzip;q=0.001', 'gzip'],
    ['zstd;q=.4, gzip;q=.5', 'gzip'],
    ['zstd;q=0.49999, gzip;q=1.0000', 'gzip'],
    ['zstd; q = 0, gzip; q = 0.5', 'gzip'],
    ['x-gzip, identity', 'gzip'],
    ['*;q=.2', 'zstd'],
  ])('%s: %s', (header, coding) => {
    expect(codingFor(header, ['zstd', 'gzip'])).toBe(coding)
  })

  it.each([
    ...[
      '',
      ' ',
      ',;,=',
      'identity',
      'br',
      'identity;q=0',
      '*;q=0',
      'gzip;q=0',
      'gzip;q=0.000, zstd;q=0',
      'gzip;q=.0',
      'gzip;q = 0',
    ],
    ...['gzip;q=-1', 'gzip;q=2', 'gzip;q=NaN', 'gzip;q=', 'xgzip', 'gzip zstd', `gzip,${'a'.repeat(252)}`],
  ])('none for %j', (header) => {
    expect(codingFor(header, ['zstd', 'gzip'])).toBeUndefined()
  })

  it('is read up to a length, and not without a header', () => {
    expect(codingFor(`gzip,${'a'.repeat(251)}`)).toBe('gzip')
    expect(codingFor(undefined)).toBeUndefined()
  })
})

describe('an answer', () => {
  it.each([...coders.keys()])('is compressed by %s, and the same when it is read', async (coding) => {
    const body = text(100_000)
    const kept = Buffer.from(body)
    const port = await serve({
      '/text': () => ({ headers: json, body }),
      '/kept': () => ({ headers: json, body: kept }),
    })
    // The second time from what was compressed before.
    for (const path of ['/text', '/kept', '/kept']) {
      const answer = await ask(port, path, coding)
      expect(answer).toMatchObject({ coding, vary: 'accept-encoding', length: String(answer.bytes.length) })
      expect(answer.bytes.length).toBeLessThan(10_000)
      expect(decoders.get(coding)?.(answer.bytes).toString()).toBe(body)
    }
  })

  it('is up to so many bytes, and as it stands from one more on', async () => {
    const port = await serve({
      '/most': () => ({ headers: json, body: text(mostAtOnce) }),
      '/more': () => ({ headers: json, body: text(mostAtOnce + 1) }),
    })
    expect((await ask(port, '/most', 'gzip')).coding).toBe('gzip')
    expect(await ask(port, '/more', 'gzip')).toMatchObject({ coding: undefined, length: String(mostAtOnce + 1) })
  })

  it('of so many bytes is, and of one less is not', async () => {
    const port = await serve({
      '/enough': () => ({ headers: json, body: text(leastCompressed) }),
      '/less': () => ({ headers: json, body: text(leastCompressed - 1) }),
    })
    expect((await ask(port, '/enough', 'gzip')).coding).toBe('gzip')
    expect(await ask(port, '/less', 'gzip')).toMatchObject({ coding: undefined, length: String(leastCompressed - 1) })
  })

  it.each([
    ['without the header', undefined, json, 'GET'],
    ['for who takes no coding', 'identity;q=0', json, 'GET'],
    ['of bytes', 'gzip', { 'content-type': 'application/octet-stream' }, 'GET'],
    ['that has a coding', 'gzip', { ...json, 'content-encoding': 'gzip' }, 'GET'],
    ['to HEAD', 'gzip', json, 'HEAD'],
  ])('%s is sent as it stands', async (_, accepted, headers, method) => {
    const body = text(10_000)
    const port = await serve({ '/': () => ({ headers, body }) })
    const answer = await ask(port, '/', accepted, method)
    expect(answer).toMatchObject({ vary: undefined, length: '10000' })
    expect(answer.bytes.toString()).toBe(method === 'HEAD' ? '' : body)
  })

  it('that does not get shorter is sent as it stands', async () => {
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 7919 + (i >> 3)) % 251))
    const noise = zlib.gzipSync(bytes, { level: 9 })
    const port = await serve({ '/': () => ({ headers: json, body: noise }) })
    const answer = await ask(port, '/', 'gzip')
    expect([answer.coding, answer.bytes.equals(noise)]).toEqual([undefined, true])
  })

  it('keeps what it varies by', async () => {
    const headers = { ...json, vary: 'origin' }
    const port = await serve({ '/': () => ({ headers, body: text(5000) }) })
    expect((await ask(port, '/', 'gzip')).vary).toBe('origin, accept-encoding')
    expect((await ask(port, '/')).vary).toBe('origin')
  })
})

describe('a stream', () => {
  it.each([...coders.keys()])('is compressed by %s while it is made', async (coding) => {
    const port = await serve({ '/': () => ({ headers: json, body: parts(300) }) })
    const [plain, coded] = [await ask(port, '/'), await ask(port, '/', coding)]
    expect(plain.coding).toBeUndefined()
    expect([coded.coding, coded.length]).toEqual([coding, undefined])
    expect(coded.bytes.length).toBeLessThan(plain.bytes.length / 10)
    expect(decoders.get(coding)?.(coded.bytes).equals(plain.bytes)).toBe(true)
  })

  it('that fails ends the connection, and one that nobody reads on is ended', async () => {
    let ended = 0
    async function* endless(): AnswerStream {
      try {
        yield* parts(1_000_000)
      } finally {
        ended++
      }
    }
    async function* failing(): AnswerStream {
      yield* parts(100)
      throw new Error('broken')
    }
    const port = await serve({
      '/endless': () => ({ headers: json, body: endless() }),
      '/failing': () => ({ headers: json, body: failing() }),
    })
    await expect(ask(port, '/failing', 'gzip')).rejects.toThrow('aborted')
    const response = await begin(port, '/endless', 'gzip')
    response.destroy()
    await eventually('the end of the stream', () => ended === 1)
    expect(await ask(port, '/failing', 'gzip').catch((error: Error) => error.message)).toBe('aborted')
  })
})

it('so many answers are compressed at once, others are sent as they are, and later ones compressed again', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  async function* waiting(): AnswerStream {
    yield* parts(50)
    await held
  }
  const port = await serve({
    '/waiting': () => ({ headers: json, body: waiting() }),
    '/': () => ({ headers: json, body: text(5000) }),
  })
  const open: IncomingMessage[] = []
  for (let i = 0; i < compressedAtOnce - 1; i++) open.push(await begin(port, '/waiting', 'gzip'))
  expect((await ask(port, '/', 'gzip')).coding).toBe('gzip')
  open.push(await begin(port, '/waiting', 'gzip'))
  expect(open.map(({ headers }) => headers['content-encoding'])).toEqual(open.map(() => 'gzip'))
  const [further, stream] = [await ask(port, '/', 'gzip'), await begin(port, '/waiting', 'gzip')]
  // A client that does not read takes no place from answers that are whole.
  expect([further.coding, stream.headers['content-encoding']]).toEqual(['gzip', undefined])
  release()
  for (const one of [...open, stream]) for await (const part of one) expect(part).toBeDefined()
  await eventually('room for another', async () => {
    const another = await begin(port, '/waiting', 'gzip')
    for await (const part of another) expect(part).toBeDefined()
    return another.headers['content-encoding'] === 'gzip'
  })
})

it('of more whole answers at once than are compressed the others are sent as they stand', async () => {
  const bodies = Array.from({ length: compressedAtOnce + 1 }, () => text(5000))
  const coded = await Promise.all(bodies.map((body) => compressed(body, 'gzip')))
  expect(coded.map((one) => one?.coding)).toEqual([
    ...Array.from({ length: compressedAtOnce }, () => 'gzip'),
    undefined,
  ])
  expect(await compressed(text(5000), 'gzip')).toBeDefined()
})

it('the tag of a compressed answer is a weak one', () => {
  const coded = (headers: Record<string, string>) => codedHeaders(HeaderList.of(headers), 'gzip')
  expect(coded({ etag: '"a"', vary: 'Accept' })).toEqual(
    HeaderList.of({ etag: 'W/"a"', vary: 'Accept, accept-encoding', 'content-encoding': 'gzip' }),
  )
  expect(coded({ etag: 'W/"a"' }).get('etag')).toBe('W/"a"')
  expect(coded({}).get('etag')).toBeUndefined()
})
