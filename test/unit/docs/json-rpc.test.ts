import { beforeAll, describe, expect, it } from 'vitest'
import { documentedMethods } from '../../../scripts/docs/json-rpc-page.js'
import { runSamples, samples } from '../../../scripts/docs/json-rpc-samples.js'
import { repositoryFile } from '../../support/markdown.js'
import { expectSchema } from '../../support/schema.js'

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
})

describe('the answers of a node', () => {
  let exchanges: Awaited<ReturnType<typeof runSamples>>
  beforeAll(async () => {
    exchanges = await runSamples(names)
  }, 60_000)

  it.each(methods.map(({ name, result }) => ({ name, result })))('$name keeps to its schema', ({ name, result }) => {
    const { answer } = exchanges.get(name) as { answer: object }
    expect(Object.keys(answer)).toEqual(['id', 'jsonrpc', 'result'])
    expectSchema(result, (answer as { result: unknown }).result)
  })
})
