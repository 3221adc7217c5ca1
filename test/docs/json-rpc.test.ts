import { beforeAll, describe, expect, it } from 'vitest'
import { documentedMethods } from '../../scripts/docs/json-rpc-page.js'
import { runSamples, samples } from '../../scripts/docs/json-rpc-samples.js'

import { openRpcDocument } from '../../src/answers/api/rpc/openrpc.js'
import { codes } from '../../src/node/library/codes.js'
import { repositoryFile, tableRows } from '../support/assert/markdown.js'
import { expectSchema } from '../support/assert/schema.js'

const methods = documentedMethods()
const names = methods.map(({ name }) => name)

describe('docs/json-rpc.md', () => {
  it('has a sample of every method, and of no other', () => {
    expect(Object.keys(samples).sort()).toEqual([...names].sort())
  })

  it('has a section for every method, in order', () => {
    const sections = [...repositoryFile('docs/json-rpc.md').matchAll(/^## (\S+)$/gm)].map(([, name]) => name)
    expect(sections).toEqual(names)
  })

  it('lists every code of an error', () => {
    const listed = tableRows(repositoryFile('docs/json-rpc.md')).flatMap(([cell]) =>
      cell?.startsWith('-32') ? [cell] : [],
    )
    expect(listed.sort()).toEqual([...new Set(Object.values(codes).map(({ rpc }) => String(rpc)))].sort())
  })
})

describe('the answers of a node', () => {
  let exchanges: Awaited<ReturnType<typeof runSamples>>
  beforeAll(async () => {
    exchanges = await runSamples(names)
  })

  it.each(methods.map(({ name, result }) => ({ name, result })))('$name keeps to its schema', ({ name, result }) => {
    const { answer } = exchanges.get(name) as { answer: object }
    expect(Object.keys(answer)).toEqual(['id', 'jsonrpc', 'result'])
    expectSchema(result, (answer as { result: unknown }).result)
  })

  it.each(openRpcDocument(methods, '').methods)('$name are the example of rpc.discover', ({ name, examples }) => {
    const { request, shown } = exchanges.get(name) ?? {}
    const { params, result } = methods.find((row) => row.name === name) as (typeof methods)[number]
    const [example] = examples
    const given = Object.fromEntries(example?.params.map(({ name: parameter, value }) => [parameter, value]) ?? [])
    expect([given, example?.result.value]).toEqual([{ ...(request?.['params'] as object) }, shown])
    expect(Object.keys(params.properties)).toEqual(expect.arrayContaining(Object.keys(given)))
    expectSchema(params, given)
    expectSchema(result, example?.result.value)
  })
})
