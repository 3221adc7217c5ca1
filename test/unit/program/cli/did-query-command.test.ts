import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QueryResult } from '../../../../src/identity/did/resolution.js'
import { contextOf, serve } from '../../../support/client/api.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { Workbench } from '../../../support/process/workbench.js'

const hub = { id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }
const people = [holder(), holder(), holder()]
const dids = people.map(({ did }) => did)
const bench = new Workbench()
let node: TestChain
let server: Awaited<ReturnType<typeof serve>>
let rest: string[]

beforeAll(async () => {
  node = await TestChain.open(oneValidator())
  for (const person of people) {
    const credentials = person === people[1] ? [person.issue(person.did)] : []
    await node.publish(person.create({ services: [hub], credentials }), person.did)
  }
  server = await serve(contextOf(node))
  rest = ['--rest', `http://127.0.0.1:${server.port}`]
})
afterAll(async () => {
  await server.close()
  await node.close()
  bench.close()
})

const query = (...args: string[]) => bench.run('did', 'query', ...args, ...rest)

describe('did query', () => {
  it('shows the documents that match, and how to see more', async () => {
    const all = await query('--service', 'Hub')
    expect(all).toMatchObject({ code: 0, err: '' })
    expect(all.out).toMatch(/^3 documents match; numbers 1 to 3:\n\n\{\n {2}"id": /)
    expect(all.out.match(/^ {2}"id": "(.*)"/gm)).toEqual(dids.map((did) => `  "id": "${did}"`))
    const one = await query('--service', 'Hub', '--skip', '1', '--limit', '1')
    expect(one.out).toMatch(/^3 documents match; number 2: \(--skip 2 goes on\)\n/)
    expect(one.out).toContain(`"id": "${dids[1]}"`)
    expect((await query('--credential', 'ProfileCredential')).out).toMatch(/^1 document matches; number 1:\n/)
  })

  it('shows counts alone', async () => {
    expect((await query('--service', 'Hub', '--limit', '0')).out).toBe('3 documents match.\n')
    expect((await query('--service', 'Mail')).out).toBe('0 documents match.\n')
  })

  it('prints the answer as it came', async () => {
    const condition = '{credential: {subject: {name: {$exists: true}}}}'
    const { total, start, count, document } = await bench.json<QueryResult>(
      'did',
      'query',
      '--condition',
      condition,
      ...rest,
    )
    expect([total, start, count, document.map(({ id }) => id)]).toEqual([1, 0, 1, [dids[1]]])
  })

  it('passes on what the node has against a condition', async () => {
    const refused = await query('--condition', '{a: {$where: 1}}')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('the node refused query: a.$where: "$where" is not an operator')
  })

  it.each([
    [[], /say what to look for with --service/],
    [['--service', 'A', '--credential', 'B'], /cannot be used with option/],
    [['--credential', 'A', '--condition', '{}'], /cannot be used with option/],
    [['--condition', '{}', '--service', 'A'], /cannot be used with option/],
    [['--service', 'A', '--skip', '-1'], /Not a whole number/],
    [['--service', 'A', '--limit', '1e3'], /Not a whole number/],
  ])('is wrongly called with %j', async (args, message) => {
    const ran = await query(...args)
    expect(ran.code).toBe(2)
    expect(ran.err).toMatch(message)
  })
})
