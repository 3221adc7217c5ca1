import { OptionalKind, type TObject, type TSchema } from '@sinclair/typebox'
import { defined } from '../../../base/primitives/defined.js'
import type { Access, RpcMethod } from './method.js'
import { methodExamples } from './method-examples.js'

/** A parameter or result: its schema and the members beside it. */
interface ContentDescriptor {
  readonly name: string
  readonly description?: string
  readonly required?: boolean
  readonly schema: TSchema
}

/** Requirements for a request, by the access of its method. */
export const accessNotes: Readonly<Record<Access, string | undefined>> = {
  public: undefined,
  control: 'The request has to be application/json and not from a page of another site.',
  admin: 'The request has to carry the admin token, be application/json and not come from a page of another site.',
}

/** The OpenRPC document of some methods, from the schemas that validate their parameters. */
export function openRpcDocument(methods: readonly RpcMethod[], version: string) {
  return {
    openrpc: '1.3.2',
    info: { title: 'didledger', version, license: { name: 'MIT' } },
    methods: methods.map(describe),
  }
}

function describe({ name, summary, params, result, access, listed }: RpcMethod) {
  const note = accessNotes[access]
  return {
    name,
    summary,
    ...(note === undefined ? {} : { description: note }),
    ...(access === 'public' ? {} : { tags: [{ name: access }] }),
    paramStructure: listed ? 'either' : 'by-name',
    params: parametersOf(params),
    result: descriptor('result', result),
    examples: examplesOf(name),
  }
}

/** The call of a method that was made on a devnet; none of a method that is new. */
function examplesOf(name: string) {
  const text = methodExamples[name]
  if (text === undefined) return []
  const { params, result } = JSON.parse(text) as { params: object; result: unknown }
  const given = Object.entries(params).map(([parameter, value]: [string, unknown]) => ({ name: parameter, value }))
  return [{ name, params: given, result: { name: 'result', value: result } }]
}

/** The parameters of a method in the order that an array has. */
export function parametersOf({ properties }: TObject): ContentDescriptor[] {
  return Object.entries(properties).map(([name, member]) => {
    const { schema, ...rest } = descriptor(name, member)
    return { ...rest, required: !(OptionalKind in member), schema }
  })
}

function descriptor(name: string, schema: TSchema): ContentDescriptor {
  const { description } = schema
  return { name, ...defined({ description }), schema }
}
