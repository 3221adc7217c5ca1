import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ResolveOptions, ResolveResult } from '../../../../src/identity/did/resolution.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { readDidUrl } from '../../../../src/answers/identifiers/did-url.js'
import { answerIdentifier } from '../../../../src/answers/identifiers/identifiers.js'
import { mediaTypes } from '../../../../src/answers/identifiers/media-types.js'
import { readParameters } from '../../../../src/answers/identifiers/parameters.js'
import { Problem } from '../../../../src/answers/identifiers/problem.js'
import { holder } from '../../../support/builders/did.js'

const { did } = holder()

function problemOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.problem
    throw error
  }
}

describe('readDidUrl', () => {
  const characters = [...`aZ9-._~!$&'()*+,;=:@`, '%C3%A4', '%25', '%2F']
  const run = (...more: string[]) => fc.string({ unit: fc.constantFrom(...characters, ...more), maxLength: 12 })
  const optional = (text: fc.Arbitrary<string>) => fc.option(text, { nil: undefined })
  const parts = fc.record({
    path: fc.array(run(), { maxLength: 3 }).map((segments) => segments.map((segment) => `/${segment}`).join('')),
    query: optional(run('/', '?')),
    fragment: optional(run('/', '?')),
  })
  const textOf = ({
    did: of = did,
    path,
    query,
    fragment,
  }: {
    did?: string
    path: string
    query?: string | undefined
    fragment?: string | undefined
  }) => `${of}${path}${query === undefined ? '' : `?${query}`}${fragment === undefined ? '' : `#${fragment}`}`

  it('takes every DID URL apart, encoded as a whole', () => {
    fc.assert(
      fc.property(parts, (known) => {
        expect(readDidUrl(encodeURIComponent(textOf(known)))).toEqual({ did, ...known })
      }),
    )
  })

  it('reads back what it was given, or refuses it for its syntax', () => {
    const near = fc.tuple(parts, fc.nat(), fc.string({ maxLength: 3 })).map(([known, at, other]) => {
      const text = textOf(known)
      const place = at % text.length
      return text.slice(0, place) + other + text.slice(place + other.length)
    })
    fc.assert(
      fc.property(fc.oneof(near, fc.string(), fc.string({ unit: 'binary' })), (text) => {
        let read
        const part = encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/gu, ''))
        const problem = problemOf(() => (read = readDidUrl(part)))
        // What is left of the DID may be a name.
        if (problem === undefined) expect(textOf(read as never)).toBe(decodeURIComponent(part))
        else expect(['INVALID_DID', 'INVALID_DID_URL', 'METHOD_NOT_SUPPORTED']).toContain(problem)
      }),
    )
  })

  it('takes no long time for long texts', () => {
    for (const text of [':', 'a:', '%41', '/', '/a', '?', '#']) {
      const long = text.repeat(16_384 / text.length)
      for (const before of ['', 'did:ledger:', `${did}`, `${did}?`, `${did}#`]) {
        problemOf(() => readDidUrl(before + long))
        problemOf(() => readDidUrl(`${before}${long} `))
      }
    }
  })
})

describe('readParameters', () => {
  const name = fc.constantFrom(
    'service',
    'serviceType',
    'relativeRef',
    'noCache',
    'transformKeys',
    'versionTime',
    'other',
  )
  const value = fc.constantFrom('a', '', 'true', 'JsonWebKey', '2026-01-01T00:00:00Z', 'ä', '/x?y')
  const query = fc
    .array(fc.tuple(name, value), { maxLength: 5 })
    .map((pairs) => pairs.map(([key, text]) => `${key}=${encodeURIComponent(text)}`).join('&'))
  const url = (inner: string | undefined) => ({ did, path: '', query: inner, fragment: undefined })

  it('reads the same in a DID URL and in the query of the request', () => {
    fc.assert(
      fc.property(query, (text) => {
        let inUrl, inQuery
        const refused = problemOf(() => (inUrl = readParameters(url(text), { query: undefined, body: undefined })))
        const other = problemOf(() => (inQuery = readParameters(url(undefined), { query: text, body: undefined })))
        expect(inUrl).toEqual(inQuery)
        expect(other).toBe(refused === 'INVALID_DID_URL' ? 'INVALID_OPTIONS' : refused)
      }),
    )
  })

  it('reads the same in a body', () => {
    fc.assert(
      fc.property(fc.dictionary(name, value), (members) => {
        const text = new URLSearchParams(members).toString().replaceAll('+', '%20')
        const body = Buffer.from(JSON.stringify(members))
        let inQuery, inBody
        const refused = problemOf(() => (inQuery = readParameters(url(undefined), { query: text, body: undefined })))
        expect(problemOf(() => (inBody = readParameters(url(undefined), { query: undefined, body })))).toBe(refused)
        expect(inBody).toEqual(inQuery)
      }),
    )
  })
})

describe('answerIdentifier', () => {
  class Source {
    readonly asked: ResolveOptions[] = []
    constructor(readonly give: () => ResolveResult) {}
    resolve = async (_: string, options: ResolveOptions): Promise<ResolveResult> => {
      this.asked.push(options)
      return this.give()
    }
  }
  const failures: unknown[] = []
  const onFailure = (error: unknown) => {
    failures.push(error)
    return 'it failed'
  }
  const options = { now: 0, onFailure }
  const request = { identifier: did, query: undefined, accept: undefined, body: undefined }

  it('answers every request, and asks only for what can be', async () => {
    const identifier = fc.oneof(fc.string(), fc.constantFrom(did, `${did}%23a`, `${did}/x`, 'did:a:b', `${did}%3Fa=b`))
    const texts = fc.option(fc.oneof(fc.string(), fc.constantFrom('service=a', 'noCache=true')), { nil: undefined })
    const accept = fc.option(fc.oneof(fc.string(), fc.constantFrom(...mediaTypes, '*/*')), { nil: undefined })
    const body = fc.option(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      { nil: undefined },
    )
    await fc.assert(
      fc.asyncProperty(fc.record({ identifier, query: texts, accept, body }), async (asked) => {
        const source = new Source(() => ({ did, status: 3 }))
        const { status, headers, body: text } = await answerIdentifier(asked, source, options)
        expect([400, 404, 406, 501]).toContain(status)
        expect(source.asked).toHaveLength(status === 404 ? 1 : 0)
        expect(mediaTypes).toContain(headers['content-type'])
        expect(JSON.parse(text)).toBeTypeOf('object')
      }),
    )
    expect(failures).toEqual([])
  })

  it('asks once, with context, for the version alone', async () => {
    const source = new Source(() => ({ did, status: 3 }))
    const versionTime = '2026-01-01T00:00:00Z'
    await answerIdentifier({ ...request, query: `versionTime=${versionTime}` }, source, options)
    await answerIdentifier(request, source, options)
    expect(source.asked).toEqual([
      { all: false, context: true, versionTime },
      { all: false, context: true },
    ])
  })

  it('believes no source that does not say where its answer stands, and says when to come back', async () => {
    const statuses: (readonly [number, string | undefined])[] = []
    const sources = [
      () => ({ did, status: 0 as const, transaction: [{}] }) as unknown as ResolveResult,
      () => {
        throw new RuleError('resolver-behind', 'behind')
      },
      () => {
        throw new RuleError('busy', 'busy')
      },
      () => {
        throw new RuleError('shards-apart', 'apart')
      },
      () => {
        throw new RuleError('shard-down', 'down')
      },
    ]
    for (const give of sources) {
      const { status, headers } = await answerIdentifier(request, new Source(give), options)
      statuses.push([status, headers['retry-after']])
    }
    expect(statuses).toEqual([
      [500, '5'],
      [503, '5'],
      [503, '2'],
      [503, '1'],
      [503, '5'],
    ])
    expect(failures.splice(0)).toHaveLength(1)
  })
})
