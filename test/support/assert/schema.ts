import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { expect } from 'vitest'
import { failureSchemas, successSchema } from '../../../src/answers/api/paths/openapi.js'
import { restPrefix, restRoutes } from '../../../src/answers/api/paths/rest-routes.js'

const compiled = new Map<TSchema, ReturnType<typeof TypeCompiler.Compile>>()

/** Holds a value against a schema; what differs is told by its path. */
export function expectSchema(schema: TSchema, value: unknown): void {
  const check = compiled.get(schema) ?? TypeCompiler.Compile(schema)
  compiled.set(schema, check)
  if (check.Check(value)) return
  const differences = [...check.Errors(value)].slice(0, 5).map(({ path, message }) => `${path}: ${message}`)
  expect.fail(`${differences.join('; ')} in ${JSON.stringify(value).slice(0, 500)}`)
}

const patterns = restRoutes.map((route) => ({
  route,
  pattern: new RegExp(`^${restPrefix}${route.path.replace(/:\w+/g, '[^/]+')}$`),
  success: successSchema(route),
}))

/** Holds an answer of the REST interface against what /openapi.json says about its path. */
export function expectRestAnswer(
  path: string,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const found = patterns.find(({ pattern }) => pattern.test(path.replace(/\?.*/, '')))
  expectSchema(status === 200 && found ? found.success : failureSchemas[found?.route.envelope ?? 'standard'], body)
}
