import type { TSchema } from '@sinclair/typebox'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identifiersPrefix } from '../../../src/answers/identifiers/identifiers.js'
import { openApiDocument } from '../../../src/answers/api/paths/openapi.js'
import { lightPrefix } from '../../../src/answers/api/paths/light-routes.js'
import { plainRoutes } from '../../../src/answers/api/paths/plain-routes.js'
import { restPrefix } from '../../../src/answers/api/paths/rest-routes.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { addressOf, parseAddress, prefix } from '../../../src/base/primitives/address.js'
import { concat } from '../../../src/base/primitives/bytes.js'
import { formatDate, parseDate } from '../../../src/identity/did/date.js'
import { bytes, u32 } from '../../support/builders/arbitraries.js'
import { expectSchema } from '../../support/assert/schema.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { minedDepth } from '../../support/builders/light-scene.js'
import {
  type Answer,
  ask,
  contextOf,
  keptConnection,
  type Question,
  serve,
  testNodeInfo,
} from '../../support/client/api.js'
import { rounds } from '../../support/process/thorough.js'

/** A node takes what /openapi.json says that it takes, refuses everything else, and answers as it says there. */

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly anyOf?: readonly Schema[]
  readonly not?: Schema
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Schema
}
interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: TSchema }>> }>>
}
interface Row {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

const document = openApiDocument(testNodeInfo.compile, plainRoutes)
const rows: readonly Row[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...{ method: method.toUpperCase(), path },
    operation: operation as Operation,
  })),
)
const parameters = rows.flatMap((row) =>
  (row.operation.parameters ?? []).filter(isInUrl).map((parameter) => ({
    row,
    parameter,
    title: `${row.method} ${row.path} ${parameter.name}`,
  })),
)

/** Headers cannot carry every text; heights.test.ts has theirs. */
function isInUrl(parameter: Parameter): boolean {
  return parameter.in !== 'header'
}

let node: TestChain
let server: ApiServer
const ada = holder()
const agent = keptConnection()

beforeAll(async () => {
  node = await TestChain.open()
  await node.publish(
    ada.create({ services: [{ id: '#home', type: 'Page', serviceEndpoint: 'https://a.example' }] }),
    ada.did,
  )
  // Proofs are as of a block with some above it.
  await node.mine(minedDepth)
  server = await serve(contextOf(node))
})
afterAll(async () => {
  agent.destroy()
  await server.close()
  await node.close()
})

const runs = { numRuns: rounds(6, 100) }

/** An address, or with the prefix of DIDs an identifier. */
function addressText(...prefixes: readonly number[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...prefixes), bytes(20))
    .map(([first, rest]) => addressOf(concat(Uint8Array.of(first), rest)))
}

/** Forms that no pattern holds wholly: what the node says of a text, and texts of the form beside those of the pattern. */
const formats: Readonly<
  Record<string, { holds(text: string): boolean; texts(ofPattern: fc.Arbitrary<string>): fc.Arbitrary<string> }>
> = {
  address: {
    holds: (text) => parseAddress(text) !== undefined,
    texts: () => addressText(...Object.values(prefix)),
  },
  'did-url': {
    holds: (text) => parseAddress(text.slice('did:ledger:'.length, 'did:ledger:'.length + 34))?.[0] === prefix.did,
    // Parameters of the DID URL are those of the query.
    texts: (ofPattern) =>
      fc
        .tuple(ofPattern, fc.oneof(addressText(prefix.did), fc.constant(ada.did.slice('did:ledger:'.length))))
        .map(([text, identifier]) =>
          text.replace(/^did:ledger:.{34}/, `did:ledger:${identifier}`).replace(/\?[^#]*/, ''),
        ),
  },
  'date-time': {
    holds: (text) => parseDate(text) !== undefined,
    texts: () => u32.map(formatDate),
  },
}

/** Whether a schema holds for a value, as far as the document uses JSON Schema. */
function holds(schema: Schema, value: unknown): boolean {
  const { enum: values, type, anyOf, not, required = [] } = schema
  if (anyOf?.some((one) => holds(one, value)) === false || (not !== undefined && holds(not, value))) return false
  if (values !== undefined) return values.includes(value)
  if ('const' in schema) return value === schema.const
  if (type === 'integer') return Number.isInteger(value) && isWithin(schema, value as number)
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'string') return typeof value === 'string' && isText(schema, value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return type === undefined
  return required.every((name) => name in value) && areMembers(schema, value)
}

function isWithin({ minimum = 0, maximum = 0 }: Schema, value: number): boolean {
  return value >= minimum && value <= maximum
}

function isText({ pattern = '', format, minLength = 0, maxLength = Infinity }: Schema, text: string): boolean {
  const { length } = [...text]
  if (!new RegExp(pattern).test(text) || length < minLength || length > maxLength) return false
  return format === undefined || formats[format]?.holds(text) === true
}

function areMembers({ properties = {}, additionalProperties = true }: Schema, value: object): boolean {
  return Object.entries(value).every(([name, member]) => {
    const schema = properties[name]
    return schema === undefined ? additionalProperties : holds(schema, member)
  })
}

/** Whether a schema holds for a value that comes as text. */
function holdsText(schema: Schema, text: string): boolean {
  return schema.type === 'integer' ? /^(0|[1-9]\d*)$/.test(text) && holds(schema, Number(text)) : holds(schema, text)
}

const isWellFormed = (text: string) => !/\p{Surrogate}/u.test(text)

/** Texts that a schema takes. */
function textsOf(schema: Schema): fc.Arbitrary<string> {
  const { enum: values, type, minimum = 0, maximum = 0, pattern, format } = schema
  if (values !== undefined) return fc.constantFrom(...values.filter((value) => typeof value === 'string'))
  if (type === 'integer') {
    return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum)).map(String)
  }
  const ofPattern = pattern === undefined ? fc.string({ unit: 'binary' }) : fc.stringMatching(new RegExp(pattern))
  const all = format === undefined ? ofPattern : formats[format]?.texts(ofPattern)
  if (all === undefined) throw new Error(`no texts of the format ${format}`)
  return fc.oneof(all, longest(schema, all)).filter((text) => isWellFormed(text) && holdsText(schema, text))
}

/** Texts as long as they may be, where their last character may stand more than once. */
function longest({ maxLength = 0 }: Schema, texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  // A body holds more than a path.
  return maxLength > 1000 ? texts : texts.map((text) => text.padEnd(maxLength, text.slice(-1)))
}

/** Texts next to those that a schema takes: one character too many, too few or another, and one beyond each bound. */
function nearTexts(schema: Schema): fc.Arbitrary<string> {
  const { minimum = 0, maximum = 0, maxLength = 100 } = schema
  const near = fc.tuple(textsOf(schema), fc.nat(), fc.constantFrom(...'x0é %#/\n')).chain(([text, place, other]) => {
    const at = place % (text.length + 1)
    return fc.constantFrom(
      ...[text.slice(0, at) + text.slice(at + 1), text.slice(0, at) + other + text.slice(at)],
      ...[text.slice(0, at) + other + text.slice(at + 1), text.padEnd(Math.min(maxLength, 1000) + 1, 'x')],
      ...['', ' ', `${text}${text}`, `+${text}`, `0${text}`, '1.5', '1e1', `${minimum - 1}`, `${maximum + 1}`],
    )
  })
  return near.filter((text) => isWellFormed(text) && !holdsText(schema, text))
}

/** One text for each parameter of a path. */
function targetOf({ path, operation }: Row, name: string, text: string): string {
  const isOption = path.startsWith(identifiersPrefix) && name !== 'identifier'
  const whole = `${ada.did}${name === 'verificationRelationship' ? '#primary' : ''}`
  const filled = path.replace(/\{(\w+)\}/g, (_, segment: string) => {
    if (segment === name) return encodeURIComponent(text)
    if (isOption) return encodeURIComponent(whole)
    const { schema } = operation.parameters?.find((one) => one.name === segment) as Parameter
    return encodeURIComponent(fc.sample(textsOf(schema), { numRuns: 1, seed: 1 })[0] as string)
  })
  const inQuery = operation.parameters?.some((one) => one.name === name && one.in === 'query') === true
  if (!inQuery) return filled
  const asked = `${filled}?${name}=${encodeURIComponent(text)}`
  return name === 'relativeRef' ? `${asked}&service=home` : asked
}

/** An answer that is as described. */
async function described({ method, operation }: Row, target: string, question: Question = {}): Promise<Answer> {
  const answer = await ask(server.port, target, { method, agent, ...question })
  const told = operation.responses[answer.status]
  expect(told, `${method} ${target}: ${answer.status} ${answer.text}`).toBeDefined()
  const type = String(answer.headers['content-type']).replace('; charset=utf-8', '')
  if (told?.content !== undefined) expectSchema(told.content[type]?.schema as TSchema, answer.body ?? answer.text)
  return answer
}

it('names its licence as every schema of OpenAPI 3.1 wants it', () => {
  expect(document['info']).toMatchObject({ license: { name: 'MIT', identifier: 'MIT' } })
})

it('is served', async () => {
  expect((await ask(server.port, '/openapi.json')).body).toEqual(JSON.parse(JSON.stringify(document)))
})

describe.each(parameters)('$title', ({ row, parameter: { name, schema } }) => {
  it('takes what its schema takes', async () => {
    await fc.assert(
      fc.asyncProperty(textsOf(schema), async (text) => {
        expect([400, 501]).not.toContain((await described(row, targetOf(row, name, text))).status)
      }),
      runs,
    )
  })

  it('refuses everything else', async () => {
    // A DID of another method is no wrong form: DID Resolution has a status for it.
    const refused = name === 'identifier' ? [400, 501] : [400]
    const isAny = schema.minLength === 1 && schema.pattern === undefined
    const wrong = isAny ? fc.constant('') : nearTexts(schema)
    await fc.assert(
      fc.asyncProperty(wrong, async (text) => {
        expect(refused).toContain((await described(row, targetOf(row, name, text))).status)
      }),
      runs,
    )
  })
})

describe.each(rows.map((row) => ({ row, title: `${row.method} ${row.path}` })))('$title', ({ row }) => {
  it('answers as described, with a query that it does not know too', async () => {
    if (row.operation.requestBody !== undefined) return
    const target = targetOf(row, '', '')
    const { status } = await described(row, target)
    const unknown = row.path.startsWith(lightPrefix) ? 400 : row.path.startsWith(identifiersPrefix) ? 501 : status
    expect((await described(row, `${target}?unknown=1`)).status).toBe(unknown)
  })
})

/** Bodies of members that a schema takes, near ones, and others; rarely of all of these. */
function bodiesOf({ properties = {} }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const other = fc.constantFrom(null, 0, 1.5, true, false, '', '00', [], ['00'], {})
  const members = Object.entries(properties).map(([name, schema]) => {
    if ('const' in schema) return [name, fc.oneof({ weight: 9, arbitrary: fc.constant(schema.const) }, other)] as const
    if (schema.type !== 'string' && schema.enum === undefined) return [name, other] as const
    const taken = { weight: 9, arbitrary: textsOf(schema) }
    return [name, fc.oneof(taken, nearTexts(schema), other)] as const
  })
  return fc.record(Object.fromEntries([...members, ['more', other]]), {
    requiredKeys: ['Action'].filter((name) => name in properties),
  })
}

const bodyRuns = { numRuns: rounds(60, 1000) }

describe('the body of a transaction', () => {
  const row = rows.find(({ path }) => path === `${restPrefix}transaction`) as Row
  const schema = row.operation.requestBody?.content['application/json']?.schema as Schema
  const data = schema.properties?.['data'] as Schema
  const post = (body: string, type = 'application/json') =>
    described(row, row.path, { headers: { 'content-type': type }, body })
  /** A body that is taken is refused for its transaction. */
  const isForm = ({ body }: Answer) => [41003, 42001, 42002].includes((body as { Error: number }).Error)

  it('is refused for its form where its schema does not hold, and only there', async () => {
    const spelled = fc.tuple(bodiesOf(schema), fc.option(textsOf(data), { nil: undefined })).map(([body, text]) => ({
      ...body,
      ...(text === undefined ? {} : { Data: text }),
    }))
    await fc.assert(
      fc.asyncProperty(spelled, async (body) => {
        expect(isForm(await post(JSON.stringify(body)))).toBe(!holds(schema, body))
      }),
      bodyRuns,
    )
    for (const body of ['', '0', '[]', 'null', '"00"', '{']) expect(isForm(await post(body))).toBe(true)
    expect((await post('{}', 'text/plain')).status).toBe(415)
  })

  it('holds so many digits', async () => {
    const { maxLength = 0 } = data
    const ofLength = (length: number) =>
      post(JSON.stringify({ Action: 'sendrawtransaction', data: '0'.repeat(length) }))
    expect(isForm(await ofLength(maxLength - (maxLength % 2)))).toBe(false)
    expect((await ofLength(maxLength + 1)).status).toBe(413)
  })
})

describe('the options of DID Resolution in a body', () => {
  const row = rows.find(({ path, method }) => method === 'POST' && path.startsWith(identifiersPrefix)) as Row
  const types = Object.entries(row.operation.requestBody?.content ?? {})
  const post = (body: string, type: string) =>
    described(row, `${identifiersPrefix}/${encodeURIComponent(`${ada.did}#primary`)}`, {
      ...{ headers: { 'content-type': type }, body },
    })

  it.each(types)('are refused where their schema does not hold, and only there: %s', async (type, { schema }) => {
    await fc.assert(
      fc.asyncProperty(bodiesOf(schema), async (body) => {
        fc.pre(!('relativeRef' in body) || 'service' in body || 'serviceType' in body)
        const { status } = await post(JSON.stringify(body), type)
        expect([400, 501].includes(status)).toBe(!holds(schema, body))
      }),
      bodyRuns,
    )
    for (const body of ['0', '[]', 'null', '"00"', '{']) expect((await post(body, type)).status).toBe(400)
    expect((await post('', type)).status).toBe(200)
  })

  it('are refused in another type, and where they are too long', async () => {
    expect((await post('{}', 'text/plain')).status).toBe(415)
    expect((await post(' '.repeat(16 * 1024 + 1), 'application/json')).status).toBe(413)
  })
})
