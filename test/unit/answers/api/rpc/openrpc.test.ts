import { type TSchema, Type } from '@sinclair/typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiContext } from '../../../../../src/answers/api/api-context.js'
import type { DevnetControl } from '../../../../../src/answers/api/node-handles.js'
import { rpcMethods } from '../../../../../src/answers/api/rpc/all-methods.js'
import type { RpcMethod } from '../../../../../src/answers/api/rpc/method.js'
import { contextOf } from '../../../../support/client/api.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { RpcClient } from '../../../../support/client/rpc.js'
import { expectSchema } from '../../../../support/assert/schema.js'

/** What the OpenRPC specification asks of a document, as far as there is something to ask here. */
const closed = { additionalProperties: false }
const schemaObject = Type.Object({ description: Type.Optional(Type.String()) })
const contentDescriptor = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    summary: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    required: Type.Optional(Type.Boolean()),
    schema: schemaObject,
    deprecated: Type.Optional(Type.Boolean()),
  },
  closed,
)
const example = Type.Object({ name: Type.String({ minLength: 1 }), value: Type.Unknown() }, closed)
const metaSchema = Type.Object(
  {
    openrpc: Type.String({ pattern: '^1\\.\\d+\\.\\d+$' }),
    info: Type.Object(
      {
        title: Type.String({ minLength: 1 }),
        version: Type.String({ minLength: 1 }),
        license: Type.Optional(Type.Object({ name: Type.String() }, closed)),
      },
      closed,
    ),
    methods: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1 }),
          summary: Type.String({ minLength: 1 }),
          description: Type.Optional(Type.String()),
          tags: Type.Optional(Type.Array(Type.Object({ name: Type.String() }, closed))),
          paramStructure: Type.Union([Type.Literal('either'), Type.Literal('by-name'), Type.Literal('by-position')]),
          params: Type.Array(contentDescriptor),
          result: contentDescriptor,
          examples: Type.Array(
            Type.Object({ name: Type.String({ minLength: 1 }), params: Type.Array(example), result: example }, closed),
            { minItems: 1 },
          ),
        },
        closed,
      ),
    ),
  },
  closed,
)

interface Descriptor {
  readonly name: string
  readonly description?: string
  readonly required?: boolean
  readonly schema: TSchema
}
interface Document {
  readonly methods: readonly {
    readonly name: string
    readonly paramStructure: string
    readonly tags?: readonly { name: string }[]
    readonly params: readonly Descriptor[]
    readonly result: Descriptor
  }[]
}

let node: TestChain
let context: ApiContext
let document: Document
let methods: readonly RpcMethod[]

beforeAll(async () => {
  node = await TestChain.open()
  // Only whether there is one matters to the list.
  context = contextOf(node, { devnet: {} as DevnetControl })
  methods = rpcMethods(context)
  document = await new RpcClient(context).call<Document>('rpc.discover')
})
afterAll(() => node.close())

test('it is an OpenRPC document', () => {
  expectSchema(metaSchema, document)
})

test('it has every method, and no other', () => {
  expect(document.methods.map(({ name }) => name)).toEqual(methods.map(({ name }) => name))
  expect(new Set(methods.map(({ name }) => name)).size).toBe(methods.length)
  expect(document.methods.map(({ name }) => name)).toContain('rpc.discover')
})

test('parameters have the schemas that validate them, in their order, what is required first', () => {
  for (const [i, { params, paramStructure }] of document.methods.entries()) {
    const { params: schema, listed } = methods[i] as RpcMethod
    expect(Object.fromEntries(params.map((param) => [param.name, param.schema]))).toEqual(
      JSON.parse(JSON.stringify(schema.properties)),
    )
    const required = params.filter((param) => param.required === true).map(({ name }) => name)
    expect(required).toEqual(schema.required ?? [])
    expect(params.slice(0, required.length).map(({ name }) => name)).toEqual(required)
    expect(paramStructure).toBe(listed ? 'either' : 'by-name')
  }
})

test('it says which methods are not for everybody', () => {
  const tags = document.methods.map(({ name, tags: list = [] }) => [name, ...list.map((tag) => tag.name)])
  expect(tags).toEqual(methods.map(({ name, access }) => (access === 'public' ? [name] : [name, access])))
})

describe('texts', () => {
  test('every summary is a sentence', () => {
    for (const { name, summary } of methods) expect([name, summary]).toEqual([name, expect.stringMatching(/\.$/)])
  })

  test('every parameter is described', () => {
    for (const { name, params } of document.methods) {
      for (const param of params)
        expect([name, param]).toEqual([name, expect.objectContaining({ description: expect.stringMatching(/./) })])
    }
  })
})

test('a devnet has more methods', () => {
  const { devnet: _, ...plain } = context
  const fewer = rpcMethods(plain).map(({ name }) => name)
  expect(fewer.some((name) => name.startsWith('dev_'))).toBe(false)
  expect(methods.map(({ name }) => name).filter((name) => !name.startsWith('dev_'))).toEqual(fewer)
})
