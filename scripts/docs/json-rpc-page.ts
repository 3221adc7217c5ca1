import type { TSchema } from '@sinclair/typebox'
import type { ApiContext } from '../../src/answers/api/api-context.js'
import { apiLimits } from '../../src/answers/api/api-limits.js'
import { accessNotes, parametersOf } from '../../src/answers/api/rpc/openrpc.js'
import { rpcMethods } from '../../src/answers/api/rpc/all-methods.js'
import type { Access, RpcMethod } from '../../src/answers/api/rpc/method.js'
import { shippedSpecFile } from '../../src/node/library/shipped.js'
import { readFileSync } from 'node:fs'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { runSamples } from './json-rpc-samples.js'
import type { Exchange } from './scene.js'
import { code, filled, jsonBlock, linkTo, longest, tableRow, typeText } from './shown.js'

/** Every method, in the order of the table. */
export function documentedMethods(): readonly RpcMethod[] {
  const spec = parseSpec(readFileSync(shippedSpecFile('devnet'), 'utf8'))
  // The list depends only on whether there is a devnet, and on its payments.
  return rpcMethods({ devnet: {}, reader: { chain: { spec } } } as unknown as ApiContext)
}

let run: ReturnType<typeof runSamples> | undefined

/** The exchanges of the samples, run once for all pages. */
function runOnce(): ReturnType<typeof runSamples> {
  return (run ??= runSamples(documentedMethods().map(({ name }) => name)))
}

/** The examples of rpc.discover: a line of JSON for every method. */
export async function methodExamples(): Promise<string> {
  const lines = [...(await runOnce())].map(([name, { request, shown }]) => {
    const json = JSON.stringify({ params: request['params'], result: shown }).replace(/[\\']/g, '\\$&')
    return `  ${/^\w+$/.test(name) ? name : `'${name}'`}: '${json}',`
  })
  return [
    '/** A call of every method on a devnet, with its answer, as JSON text; written by `npm run docs`. */',
    'export const methodExamples: Readonly<Record<string, string>> = {',
    ...lines,
    '}\n',
  ].join('\n')
}

/** docs/json-rpc.md: every method with its parameters and a node's answer to one request. */
export async function jsonRpcPage(): Promise<string> {
  const methods = documentedMethods()
  const exchanges = await runOnce()
  const sections = methods.map((method) => {
    const { request, answer, shown } = exchanges.get(method.name) as Exchange & { readonly shown: unknown }
    return section(method, { request, answer: { ...answer, result: shown } })
  })
  const [cutAbove, batch] = [longest, apiLimits.batch].map(String) as [string, string]
  return filled('json-rpc.md', { rows: methods.map(rowOf), longest: cutAbove, batch, sections })
}

/** Marks of methods in the table. */
const marks: Readonly<Record<Access, string>> = { public: '', control: ' *change*', admin: ' *owner*' }

function rowOf({ name, summary, params, access }: RpcMethod): string {
  const names = parametersOf(params).map(({ name: parameter, required }) => (required ? parameter : `${parameter}?`))
  const listed = names.length === 0 ? '' : `\`{${names.join(', ')}}\``
  return tableRow(linkTo(name, code(name)), listed, summary + marks[access])
}

function section(method: RpcMethod, { request, answer }: Exchange): string {
  const { name, summary, params, access, listed } = method
  const notes = [accessNotes[access], listed ? undefined : 'Parameters come as an object.'].filter(Boolean)
  const rows = parametersOf(params).map(
    ({ name: parameter, description = '', required, schema }) =>
      `| \`${parameter}\` | ${typeText(schema)} | ${required ? 'yes' : fallback(schema)} | ${description} |`,
  )
  const table = ['| parameter | type | required | meaning |', '| --- | --- | --- | --- |', ...rows]
  return [
    `## ${name}`,
    '',
    summary,
    ...(notes.length === 0 ? [] : ['', notes.join(' ')]),
    '',
    ...(rows.length === 0 ? ['No parameters.'] : table),
    '',
    ...jsonBlock(request),
    ...jsonBlock(answer),
  ].join('\n')
}

function fallback({ default: value }: TSchema): string {
  return value === undefined ? 'no' : `no, \`${JSON.stringify(value)}\``
}
