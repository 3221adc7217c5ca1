import { type TSchema, Type } from '@sinclair/typebox'

import { identifiersPrefix } from '../../identifiers/identifiers.js'
import type { ApiContext } from '../api-context.js'
import { jsonType } from '../http/answer-forms.js'
import { restDescriptions } from '../http/error-mapping.js'
import { parameterKinds, type ParameterKind } from '../parameters.js'
import { lightParameters, lightPrefix, type LightName, type LightRoute, lightRoutes } from './light-routes.js'
import { behindHeight, heightHeaders, minHeightParameter } from './openapi-heights.js'
import { identifiersItem } from './openapi-identifiers.js'
import type { PlainRoute } from './plain-route.js'
import { restPrefix, type RestRoute, restRoutes } from './rest-routes.js'
import { closed } from '../schemas/common-schemas.js'

/** The paths of the REST port in OpenAPI 3.1, from the tables that serve them and the schemas that tests check answers with. */

type Envelope = RestRoute['envelope']

/** Schema of an answer on success, in its envelope. */
export function successSchema({ envelope, result }: Pick<RestRoute, 'envelope' | 'result'>): TSchema {
  return envelope === 'standard'
    ? closed({ Desc: Type.Literal(restDescriptions[0] as string), Error: Type.Literal(0), Result: result })
    : closed({ error: Type.Null(), id: Type.Null(), jsonrpc: Type.Literal('2.0'), result })
}

/** Schemas of an answer on failure, by envelope. */
export const failureSchemas: Readonly<Record<Envelope, TSchema>> = {
  standard: closed({
    Desc: Type.String({ description: 'what the number means' }),
    Error: Type.Integer({ minimum: 1, description: 'number of the failure' }),
    Result: Type.String({ description: 'what was wrong, and where' }),
  }),
  confirm: closed({
    error: closed({
      code: Type.Integer({ minimum: 1, description: 'number of the failure' }),
      message: Type.String({ description: 'what the number means' }),
      data: Type.String({ description: 'what was wrong, and where' }),
    }),
    id: Type.Null(),
    jsonrpc: Type.Literal('2.0'),
    result: Type.Null(),
  }),
}

const lightFailure = closed({
  error: closed({
    code: Type.Integer({ description: 'that of JSON-RPC' }),
    message: Type.String({ description: 'what the number means' }),
    data: Type.String({ description: 'what was wrong, and where' }),
  }),
})

/** The document; `version` is that of the program. */
export function openApiDocument(version: string, plain: readonly PlainRoute[]) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of restRoutes) {
    const path = restPrefix + route.path.replace(/:(\w+)/g, '{$1}')
    for (const method of route.methods) {
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation(route, method) }
    }
  }
  for (const { path, summary, fails, query = {} } of plain) {
    const responses = {
      200: { description: summary },
      ...(fails === undefined ? {} : { 503: { description: fails } }),
      ...(Object.keys(query).length > 0 && {
        400: response('a parameter has a wrong form, or is given twice', failureSchemas.standard),
      }),
      default: response('a failure', failureSchemas.standard),
    }
    const parameters = Object.entries(query).map(([name, { kind, meaning }]) => parameter(name, 'query', kind, meaning))
    paths[path] = {
      get: { operationId: operationId('GET', path), summary, ...(parameters.length > 0 && { parameters }), responses },
    }
  }
  for (const route of lightRoutes) paths[lightPrefix + route.path.replace(/:(\w+)/g, '{$1}')] = lightItem(route)
  paths[`${identifiersPrefix}/{identifier}`] = identifiersItem
  // Validators with the first schema of OpenAPI 3.1 refuse a licence that has a name alone.
  const license = { name: 'MIT', identifier: 'MIT' }
  return { openapi: '3.1.0', info: { title: 'didledger', version, license }, paths }
}

/** `GET /openapi.json`; `plain` gives the paths beside the REST interface. */
export function openApiRoute(plain: (context: ApiContext) => readonly PlainRoute[]): PlainRoute {
  const bodies = new WeakMap<ApiContext, string>()
  return {
    path: '/openapi.json',
    summary: 'Describes the paths of this port in OpenAPI.',
    answer: (context) => {
      const body = bodies.get(context) ?? JSON.stringify(openApiDocument(context.nodeInfo().compile, plain(context)))
      bodies.set(context, body)
      return { status: 200, contentType: jsonType, body }
    },
  }
}

/** A path for light resolvers. */
function lightItem({ path, summary, query, result, method: only, body }: LightRoute) {
  const method = only ?? 'GET'
  const asked = (place: 'path' | 'query') => (name: LightName) => {
    const { kind, meaning } = lightParameters[name]
    return parameter(name, place, kind, meaning)
  }
  const segments = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as LightName)
  const responses = {
    200: response('Success', result),
    400: response('a parameter has a wrong form, is not one of this path, or is given twice', lightFailure),
    404: response('the node has no proof of that block', lightFailure),
    503: response('the node is not in step with its chain, or busy', lightFailure),
    default: response('any other failure', lightFailure),
  }
  return {
    [method.toLowerCase()]: {
      operationId: operationId(method, `light/${path}`),
      summary,
      ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body.schema } } } }),
      parameters: [...segments.map(asked('path')), ...query.map(asked('query'))],
      responses,
    },
  }
}

function parameter(name: string, place: 'path' | 'query', kind: ParameterKind, description?: string) {
  const { schema } = parameterKinds[kind]
  const required = place === 'path'
  return { name, in: place, required, description: description ?? schema.description, schema }
}

function operation(route: RestRoute, method: string) {
  return {
    operationId: operationId(method, route.path),
    summary: route.summary,
    ...(route.deprecated ? { deprecated: true } : {}),
    parameters: [
      ...Object.entries(route.parameters).map(([name, kind]) => parameter(name, 'path', kind)),
      minHeightParameter,
    ],
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: route.body } } } }),
    responses: {
      200: { ...response('Success', successSchema(route)), headers: heightHeaders },
      ...(route.body === undefined && { 304: { description: 'If-None-Match names the answer' } }),
      ...failures(route),
      503: response(behindHeight, failureSchemas[route.envelope]),
    },
  }
}

function failures(route: RestRoute): Record<string, unknown> {
  return Object.fromEntries(
    failureStatuses(route).map(([status, description]) => [
      status,
      response(description, failureSchemas[route.envelope]),
    ]),
  )
}

/** HTTP statuses of failures of a path, each with its cause; `default` is the last. */
export function failureStatuses({
  parameters,
  body,
  unknown,
  control,
}: RestRoute): readonly (readonly [status: string, cause: string])[] {
  const takesValues = Object.keys(parameters).length > 0 || body !== undefined
  const statuses: [string, boolean, string][] = [
    [
      '400',
      takesValues,
      body === undefined ? '42002: a parameter has a wrong form' : 'the request or the transaction is refused',
    ],
    ['403', control, '42003: neither from this machine nor with the admin token, or from a page of another site'],
    ['404', unknown.length > 0, unknown.map((code) => `${code}: ${restDescriptions[code]}`).join('; ')],
    ['413', body !== undefined, '41003: the body is too large'],
    ['415', body !== undefined, '41003: the content type is not application/json'],
    ['default', true, 'any other failure'],
  ]
  return statuses.flatMap(([status, happens, cause]) => (happens ? [[status, cause] as const] : []))
}

function response(description: string, schema: TSchema) {
  return { description, content: { 'application/json': { schema } } }
}

/** "getBlockDetailsHeightByHeight" for `GET block/details/height/:height`. */
function operationId(method: string, path: string): string {
  const words = path
    .replace(/:/g, 'by-')
    .split(/\W+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
