import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiServer } from '../../../../../src/answers/api/servers/node-server.js'
import { lightPrefix, lightRoutes } from '../../../../../src/answers/api/paths/light-routes.js'
import { plainRoutes } from '../../../../../src/answers/api/paths/plain-routes.js'
import { restPrefix, restRoutes } from '../../../../../src/answers/api/paths/rest-routes.js'
import { ask, contextOf, serve } from '../../../../support/client/api.js'
import { TestChain } from '../../../../support/builders/chain.js'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly deprecated?: boolean
  readonly parameters?: readonly { name: string; in: string; required: boolean; description: string; schema: object }[]
  readonly requestBody?: { readonly content: Record<string, { schema: object }> }
  readonly responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}
interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Record<string, Record<string, Operation>>
}

let node: TestChain
let server: ApiServer
let document: Document

beforeAll(async () => {
  node = await TestChain.open()
  server = await serve(contextOf(node))
  const answer = await ask(server.port, '/openapi.json')
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  document = answer.body as Document
})
afterAll(async () => {
  await server.close()
  await node.close()
})

test('it is OpenAPI 3.1 about this program', () => {
  expect(document.openapi).toBe('3.1.0')
  expect(document.info).toMatchObject({ title: 'didledger', version: '0.1.0-test' })
})

test('it has every path of the port with its methods, and no other', () => {
  const routes = restRoutes.map(({ path, methods }) => [restPrefix + path.replace(/:(\w+)/g, '{$1}'), methods] as const)
  const described = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.keys(item).map((method) => method.toUpperCase()),
  ])
  const binding = ['/1.0/identifiers/{identifier}', ['GET', 'POST']]
  const light = lightRoutes.map(({ path, method = 'GET' }) => [lightPrefix + path.replace(/:(\w+)/g, '{$1}'), [method]])
  expect(described).toEqual([...routes, ...plainRoutes.map(({ path }) => [path, ['GET']]), ...light, binding])
})

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )

test('every operation has a name of its own, a summary, and its parameters', () => {
  const ids = operations().map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toContain('getBlockDetailsHeightByHeight')
  for (const { path, operation } of operations()) {
    expect(operation.summary).not.toBe('')
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const parameters = operation.parameters ?? []
    expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(inPath)
    for (const parameter of parameters) {
      expect(parameter.description).toMatch(/./)
      if (parameter.in === 'path') expect(parameter.required).toBe(true)
      else expect(parameter.in).toBe(parameter.name === 'X-Min-Height' ? 'header' : 'query')
      expect(parameter.schema).toHaveProperty('type')
    }
  }
})

test('every answer of REST has a schema that is closed, in the envelope of its path', () => {
  for (const { path, operation } of operations()) {
    if (!path.startsWith(restPrefix)) continue
    const statuses = Object.keys(operation.responses)
    expect(statuses).toEqual(expect.arrayContaining(['200', 'default']))
    const envelope = path.includes('/confirm/') ? ['error', 'id', 'jsonrpc', 'result'] : ['Desc', 'Error', 'Result']
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      expect(description).not.toBe('')
      // An answer that the client has comes without a body.
      if (status === '304') continue
      const schema = content?.['application/json']?.schema as { required: string[]; additionalProperties: boolean }
      expect(schema).toMatchObject({ required: envelope, additionalProperties: false })
    }
    expect(statuses.includes('400')).toBe(path.includes('{') || operation.requestBody !== undefined)
  }
})

test('it is matched exactly, and only read', async () => {
  for (const path of ['/openapi.json/', '/openapi', '/OpenAPI.json', `${restPrefix}openapi.json`]) {
    expect((await ask(server.port, path)).status).toBe(404)
  }
  const answer = await ask(server.port, '/openapi.json', { method: 'POST' })
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD'])
  expect((await ask(server.port, '/openapi.json?x=1')).status).toBe(200)
})
