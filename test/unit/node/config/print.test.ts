import fc from 'fast-check'
import { expect, it } from 'vitest'
import { optionsOf, variableOf } from '../../../../src/node/config/all-options.js'
import { type Config } from '../../../../src/node/config/config.js'
import { configJson, configText } from '../../../../src/node/config/print.js'
import { fromText } from '../../../../src/node/config/values.js'
import type { KeyedOption } from '../../../../src/node/options-to-node.js'
import type { NodeCommand, Option } from '../../../../src/base/runtime/option.js'
import { configOf, samples } from '../../../support/builders/config.js'
import { rounds } from '../../../support/process/thorough.js'

const anyText = fc.string({ minLength: 1, unit: 'binary' })

const matching = (pattern: unknown) => fc.stringMatching(new RegExp(pattern as string))

const values = (config: Config) => config.settings.map(({ option, value }) => [option.key, value])

/** Any value of an option. */
function valueOf(option: KeyedOption): fc.Arbitrary<unknown> {
  const { schema, key } = option
  if (option.check !== undefined) return fc.constant(fromText(option, samples[key].accepted))
  if (schema.type === 'integer')
    return fc.integer({ min: schema['minimum'] as number, max: schema['maximum'] as number })
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'array') {
    const { pattern } = schema['items'] as { pattern?: string }
    return fc.uniqueArray(pattern === undefined ? anyText : matching(pattern), { minLength: 1, maxLength: 16 })
  }
  if (schema['pattern'] !== undefined) return matching(schema['pattern'])
  const literals = schema['anyOf'] as { const: string }[] | undefined
  return literals === undefined ? anyText : fc.constantFrom(...literals.map((literal) => literal.const))
}

/** Some options of a command, given by flags. */
const given = fc.constantFrom<NodeCommand>('devnet', 'start').chain((command) =>
  fc
    .record(Object.fromEntries(optionsOf(command).map((option) => [option.key, valueOf(option)])), {
      requiredKeys: [],
    })
    .map((record) => ({ command, flags: new Map(Object.entries(record)) })),
)

it('what is printed is the same configuration as a file', () => {
  fc.assert(
    fc.property(given, anyText, ({ command, flags }, path) => {
      const config = configOf(undefined, { command, flags })
      for (const text of [configJson(config), configText(config)]) {
        const again = configOf(undefined, { command, file: { path, text } })
        expect(values(again)).toEqual(values(config))
        expect(values(configOf(configText(again), { command }))).toEqual(values(config))
      }
    }),
    { numRuns: rounds(60, 1000) },
  )
})

it('says where each value comes from', () => {
  const [batch] = optionsOf('devnet').filter(({ key }) => key === 'api.batch') as [Option]
  const config = configOf('{ api: { host: ["::1"] },\n mempool: { size: 9000000 } }', {
    env: { [variableOf(batch)]: '5' },
    flags: new Map<string, unknown>([['node.logLevel', 'info']]),
  })
  const lines = configText(config).split('\n')
  for (const line of [
    '    logLevel: "info", // flag --log-level',
    '    // dataDir is not set',
    '    host: ["::1"], // file node.json5:1',
    '    batch: 5, // environment DIDLEDGER_API_BATCH',
    '    size: 9000000, // file node.json5:2',
    '    accounts: 10, // default',
  ]) {
    expect(lines).toContain(line)
  }
  expect(JSON.parse(configJson(config))).toMatchObject({
    api: { host: ['::1'], batch: 5 },
    mempool: { size: 9_000_000 },
  })
})
