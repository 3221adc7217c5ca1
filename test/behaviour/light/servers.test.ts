import { describe, expect, it } from 'vitest'
import { answerBounds } from '../../../src/clients/light/answer-bounds.js'
import { type Bound, JsonScan, parse } from '../../../src/clients/light/json-scan.js'
import { LightError } from '../../../src/clients/light/light-error.js'
import { LightResolver } from '../../../src/clients/light/light-resolver.js'
import { distinctServers, serverUrl } from '../../../src/clients/light/server-url.js'
import { failureOf, lightOver, lightWorld } from '../../support/builders/light-world.js'

const { book, alice, kept } = lightWorld({ changeAt: 9 })
const root = { trust: book.trust(), now: () => book.tip.time * 1000 }

const failureIn = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return (error as LightError).failure
  }
}

describe('one server', () => {
  it.each([
    ['a slash at the end', 'http://a/'],
    ['slashes at the end', 'http://a//'],
    ['the usual port', 'http://a:80'],
    ['capitals', 'HTTP://A'],
    ['a dot segment', 'http://a/./'],
    ['two dots', 'http://a/x/..'],
    ['escaped dots', 'http://a/x/%2e%2E/'],
    ['a dot after the host', 'http://a./'],
    ['spaces around it', ' http://a '],
    ['an empty query', 'http://a?'],
  ])('counts once with %s', (_, other) => {
    expect(distinctServers(['http://a', other])).toEqual(['http://a'])
    const given = { ...root, servers: ['http://a', other] }
    expect(failureIn(() => new LightResolver({ ...given, needed: 2 }))).toBe('quorum')
    expect(new LightResolver({ ...given, needed: 1 })).toBeInstanceOf(LightResolver)
  })

  it.each([
    ['http://a/x', 'http://a/%78'],
    ['http://a/x', 'http://a//x'],
    ['http://127.0.0.1:5', 'http://0x7f.1:5'],
    ['http://[::1]', 'http://[0:0::1]:80/'],
    ['https://a/%C3%BC', 'https://a:443/%c3%bc/'],
    ['http://xn--bcher-kva.example', 'http://bücher.example'],
  ])('has one name: %s and %s', (one, other) => {
    expect(serverUrl(one).identity).toBe(serverUrl(other).identity)
  })

  it.each([
    ['http://a', 'https://a'],
    ['http://a', 'http://a:81'],
    ['http://a:81', 'http://a81'],
    ['http://a:81', 'http://a:82'],
    ['http://a/x', 'http://a/X'],
    ['http://a/x', 'http://a/x/y'],
    ['http://a', 'http://b'],
  ])('is another than: %s and %s', (one, other) => {
    expect(distinctServers([one, other])).toEqual([one, other])
    expect(new LightResolver({ ...root, servers: [one, other], needed: 2 })).toBeInstanceOf(LightResolver)
  })

  it.each([
    ...[
      '',
      'a',
      'ftp://a',
      'http://',
      'http://user@a',
      'http://user:word@a',
      'http://a?x=1',
      'http://a#x',
      'file:///a',
    ],
    ...[null, 5, {}],
  ])('has an address: not %j', (address) => {
    expect(failureIn(() => new LightResolver({ ...root, servers: [address as string] }))).toBe('form')
  })

  it('is asked once for each question, however often it is named', async () => {
    let asked = 0
    const response = () => void asked++
    const light = lightOver(book, { response }, { servers: ['http://node', 'http://NODE:80/'] })
    await light.resolve(alice.did)
    const { proved } = await light.resolve(alice.did)
    expect(proved.servers).toEqual(['http://node'])
    asked = 0
    await light.resolve(alice.did)
    expect(asked).toBe(1)
  })

  it.each([404, 500])('is let go of where its answer is %d, and the body has no end', async (status) => {
    let cancelled = 0
    const body = () =>
      new ReadableStream({
        pull: (stream) => stream.enqueue(new Uint8Array(1000)),
        cancel: () => void cancelled++,
      })
    const fetch = () => Promise.resolve(new Response(body(), { status }))
    const light = new LightResolver({ ...root, servers: ['http://a'], fetch })
    await expect(light.resolve(alice.did)).rejects.toBeInstanceOf(LightError)
    expect(cancelled).toBe(1)
  })

  it.each([0, -1, 1.5, Number.NaN, 3])('%d of two servers cannot be needed', (needed) => {
    const error = (() => {
      try {
        return new LightResolver({ ...root, servers: ['http://a', 'http://b'], needed })
      } catch (thrown) {
        return thrown
      }
    })()
    expect(error).toMatchObject({ failure: 'quorum', message: expect.stringContaining('2 different') })
  })
})

/** Text of so many tokens: an empty list, and zeros in it. */
const listOf = (tokens: number) => `[${Array.from({ length: tokens - 1 }, () => '0').join()}]`

describe('an answer', () => {
  const scanned = (text: string, bound: Bound, size = 7) => {
    const scan = new JsonScan(bound)
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += size) scan.add(bytes.subarray(at, at + size))
  }

  it.each(Object.entries(answerBounds))('has so many values at most: %s', (_, { tokens }) => {
    const bound = { bytes: Infinity, tokens }
    scanned(listOf(tokens), bound, 65_536)
    expect(failureIn(() => scanned(listOf(tokens + 1), bound, 65_536))).toBe('form')
  })

  it.each(Object.entries(answerBounds))('has so many bytes at most: %s', (_, { bytes }) => {
    const bound = { bytes, tokens: 10 }
    scanned(`"${'x'.repeat(bytes - 2)}"`, bound, 65_536)
    expect(failureIn(() => scanned(`"${'x'.repeat(bytes - 1)}"`, bound, 65_536))).toBe('form')
  })

  it('has 32 levels at most, and texts that count for nothing', () => {
    const bound = { bytes: 1e6, tokens: 1e6 }
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    for (const size of [1, 2, 3, 1000]) {
      scanned(nested(32), bound, size)
      expect(failureIn(() => scanned(nested(33), bound, size))).toBe('form')
      scanned(JSON.stringify({ a: '[[[,,,:::"\\"', b: 'ü€😀\\' }), { bytes: 1e6, tokens: 5 }, size)
      expect(failureIn(() => scanned('{"a\\\\":[1,2]}', { bytes: 1e6, tokens: 5 }, size))).toBe('form')
      scanned('{"a\\\\":[1,2]}', { bytes: 1e6, tokens: 6 }, size)
    }
  })

  it.each<[string, (light: LightResolver) => Promise<unknown>]>([
    ['the latest state', (light) => light.resolve(alice.did)],
    ['a version', (light) => light.resolve(alice.did, { versionTime: '2026-06-01T00:00:00Z' })],
    ['all versions', (light) => light.resolve(alice.did, { all: true })],
    ['a credential', (light) => light.resolveCredential(kept)],
  ])('of 8 MB of empty lists is refused before it is parsed, where %s is asked for', async (_, ask) => {
    const whole = new TextEncoder().encode(`[${'[],'.repeat(2_700_000)}[]]`)
    let read = 0
    const response = () => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          controller.enqueue(whole.subarray(read, (read += 65_536)))
          if (read >= whole.length) controller.close()
        },
      })
      return new Response(body)
    }
    expect(await failureOf(ask(lightOver(book, { response })))).toBe('form')
    // It is given up as soon as there is too much.
    expect(read).toBeLessThan(whole.length / 4)
  })

  it('with changes of validators, or headers, is bounded likewise', async () => {
    const padding = (url: string) => (url.includes('/changes/') ? new Response(listOf(20_000)) : undefined)
    expect(await failureOf(lightOver(book, { response: padding }).resolve(alice.did))).toBe('form')
    const headers = (url: string) => (url.includes('/headers/') ? new Response(listOf(20_000)) : undefined)
    const mined = lightWorld({ miners: true })
    const answer = () => mined.book.answer(alice.did, { height: mined.book.tip.height - 6 })
    expect(await failureOf(lightOver(mined.book, { response: headers, answer }).resolve(alice.did))).toBe('form')
  })

  it('that is given as text is bounded by its length', () => {
    expect(parse(`[${'"0123456789",'.repeat(100_000)}1]`)).toHaveLength(100_001)
    expect(failureIn(() => parse(`[${'[],'.repeat(100_000)}1]`))).toBe('form')
    const [tokens, text] = [256 + 128, `${listOf(256 + 128)}${' '.repeat(1024)}`.slice(0, 1024)]
    expect(text.trimEnd()).toHaveLength(2 * tokens - 1)
    expect(parse(text)).toHaveLength(tokens - 1)
    expect(failureIn(() => parse(`${listOf(tokens + 1)}${' '.repeat(1024)}`.slice(0, 1024)))).toBe('form')
  })
})
