import type { TSchema } from '@sinclair/typebox'
import { lightParameters, lightPrefix, type LightRoute, lightRoutes } from '../../src/answers/api/paths/light-routes.js'
import { failureStatuses } from '../../src/answers/api/paths/openapi.js'
import { parameterKinds } from '../../src/answers/api/parameters.js'
import { restPrefix, type RestRoute, restRoutes } from '../../src/answers/api/paths/rest-routes.js'
import { type RestExchange, runRestSamples } from './rest-samples.js'
import { code, cut, filled, jsonBlock, linkTo, longest, tableRow, typeText } from './shown.js'

/** docs/rest.md: every path with its parameters and a node's answer to one request. */
export async function restPage(): Promise<string> {
  const exchanges = await runRestSamples(restPrefix)
  const sections = restRoutes.map((route) => {
    const exchange = exchanges.get(route.path)
    if (exchange === undefined) throw new Error(`scripts/docs/rest-samples.ts has no sample of ${route.path}`)
    return section(route, exchange)
  })
  const rows = restRoutes.map((route) => {
    const path = linkTo(headingOf(route), code(restPrefix + route.path))
    return tableRow(route.methods.join(', '), path, summaryOf(route))
  })
  return filled('rest.md', { rows, longest: String(longest), proofs: lightRoutes.map(lightRow), sections })
}

function lightRow({ path, summary, query, method }: LightRoute): string {
  const names = query.map((name) => `${code(name)}: ${lightParameters[name].meaning}`)
  return tableRow(code(`${method === undefined ? '' : `${method} `}${lightPrefix}${path}`), summary, names.join('; '))
}

function headingOf({ methods, path }: RestRoute): string {
  return `${methods.join(', ')} ${restPrefix}${path}`
}

function summaryOf({ summary, deprecated }: RestRoute): string {
  return deprecated ? `${summary} (deprecated)` : summary
}

function section(route: RestRoute, { path, body, answer }: RestExchange): string {
  const summary = summaryOf(route)
  const parameters = Object.entries(route.parameters).map(
    ([name, kind]) => [name, parameterKinds[kind].schema] as const,
  )
  return [
    `## ${headingOf(route)}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    '',
    ...table('parameter', parameters.map(rowOf)),
    ...table('member of the body', Object.entries<TSchema>(route.body?.properties ?? {}).map(rowOf)),
    `Result: ${resultOf(route)}.`,
    '',
    ...failuresOf(route),
    '\`\`\`sh',
    requestOf(path, body),
    '\`\`\`',
    '',
    ...jsonBlock(answer),
  ].join('\n')
}

/** Rows below a head, with an empty line after them; nothing where there are none. */
function table(subject: string, rows: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : [`| ${subject} | type | meaning |`, '| --- | --- | --- |', ...rows, '']
}

function rowOf([name, schema]: readonly [string, TSchema]): string {
  return tableRow(code(name), typeText(schema), schema.description ?? '')
}

function resultOf({ result }: RestRoute): string {
  return [typeText(result), ...(result.description === undefined ? [] : [result.description])].join(', ')
}

function failuresOf(route: RestRoute): readonly string[] {
  const statuses = failureStatuses(route).filter(([status]) => status !== 'default')
  return statuses.length === 0 ? [] : [...statuses.map(([status, when]) => `- HTTP ${status}: ${when}`), '']
}

function requestOf(path: string, body: object | undefined): string {
  const url = `http://127.0.0.1:20334${path}`
  if (body === undefined) return `curl -s ${url}`
  return `curl -s ${url} -H 'content-type: application/json' -d '${JSON.stringify(cut(body))}'`
}
