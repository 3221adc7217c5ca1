import { type TSchema, Type } from '@sinclair/typebox'
import { didUrlForm } from '../../identifiers/did-url.js'
import {
  dereferencingType,
  documentTypes,
  earlierDereferencingType,
  earlierResolutionType,
  resolutionType,
  uriListType,
} from '../../identifiers/media-types.js'
import { identifierOptions } from '../../identifiers/parameters.js'
import type { OptionValues } from '../../../identity/did/resolution-options.js'
import { problems } from '../../identifiers/problem.js'
import { closed } from '../schemas/common-schemas.js'
import { behindHeight, heightHeaders, minHeightParameter } from './openapi-heights.js'
import { optionTypes } from './identifiers-path.js'

/** The HTTP binding of DID Resolution in OpenAPI, from what reads its requests. */

/** Conditions of options that no schema of one of them has. */
const together: Readonly<Record<string, string>> = {
  versionTime: '; not with versionId',
  relativeRef: '; with service or serviceType',
  verificationRelationship: '; with a fragment, without service and serviceType',
}

const options = [...identifierOptions].map(([name, values]) => ({
  ...{ name, values },
  description: values.needed + (together[name] ?? ''),
}))

function schemaOf({ values, form, isDate }: OptionValues) {
  if (values !== undefined) return { enum: values }
  return { type: 'string', pattern: form, ...(isDate ? { format: 'date-time' } : {}) }
}

const identifier = {
  name: 'identifier',
  in: 'path',
  required: true,
  description:
    'a DID, or a DID URL, encoded as a whole; an identifier of a key ends with a checksum; the query has the options below',
  schema: { type: 'string', pattern: didUrlForm, format: 'did-url' },
}

/** Options in the query are texts. */
const query = options.map(({ values, ...option }) => {
  const schema = schemaOf(values)
  const texts = schema.enum && { enum: schema.enum.filter((value) => typeof value === 'string') }
  return { ...option, in: 'query', schema: { ...schema, type: 'string', ...texts } }
})

const body = {
  type: 'object',
  properties: Object.fromEntries(
    options.map(({ name, values, description }) => [name, { ...schemaOf(values), description }]),
  ),
  additionalProperties: false,
  not: {
    anyOf: [
      { required: ['versionId', 'versionTime'] },
      { required: ['verificationRelationship', 'service'] },
      { required: ['verificationRelationship', 'serviceType'] },
    ],
  },
}

const something = Type.Object({})
const part = Type.Union([something, Type.String(), Type.Null()])
const found = {
  ...results(Type.Union([something, Type.Null()]), part, Type.Object({ contentType: Type.String() })),
  ...Object.fromEntries(documentTypes.map((type) => [type, { schema: something }])),
  [uriListType]: { schema: Type.String() },
}
const problem = closed({ type: Type.String(), title: Type.String(), detail: Type.String() })
const failed = results(Type.Null(), Type.Null(), Type.Object({ error: problem }))

/** Results of resolution and of dereferencing by media type. */
function results(document: TSchema, content: TSchema, said: TSchema) {
  const resolved = { didDocument: document, didResolutionMetadata: said, didDocumentMetadata: something }
  const dereferenced = { content, contentStream: content, dereferencingMetadata: said, contentMetadata: something }
  return {
    [resolutionType]: { schema: closed(resolved) },
    [earlierResolutionType]: { schema: closed(resolved) },
    [dereferencingType]: { schema: closed(dereferenced) },
    [earlierDereferencingType]: { schema: closed(dereferenced) },
  }
}

/** Answers by status; the problems of one status are one answer. */
function responses(ofHttp: Readonly<Record<string, string>>) {
  const causes: Record<string, string> = {
    ...ofHttp,
    503: `the node is not in step with its chain, or ${behindHeight}`,
  }
  for (const [name, { status }] of Object.entries(problems)) {
    causes[status] = causes[status] === undefined ? name : `${causes[status]}, ${name}`
  }
  return {
    200: {
      description: 'a result, a document, a part of it, or the endpoint of a service as text',
      headers: heightHeaders,
      content: found,
    },
    303: { description: 'the endpoint of a service, unless the node answers it as text' },
    410: { description: 'the DID is deactivated', content: found },
    ...Object.fromEntries(
      Object.entries({ ...causes, default: 'any other failure' }).map(([status, description]) => [
        status,
        { description, content: failed },
      ]),
    ),
  }
}

const summary = 'Resolves a DID, or dereferences a DID URL, as W3C DID Resolution has it; Accept chooses the form.'

export const identifiersItem = {
  get: {
    operationId: 'getIdentifier',
    summary,
    parameters: [identifier, ...query, minHeightParameter],
    responses: { 304: { description: 'If-None-Match names the answer' }, ...responses({}) },
  },
  post: {
    operationId: 'postIdentifier',
    summary,
    parameters: [identifier, minHeightParameter],
    requestBody: { content: Object.fromEntries(optionTypes.map((type) => [type, { schema: body }])) },
    responses: responses({
      413: 'the body is too large',
      415: `the body has a content type that is none of ${optionTypes.join(', ')}`,
    }),
  },
}
