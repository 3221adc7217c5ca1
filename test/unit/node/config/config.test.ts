import { describe, expect, it } from 'vitest'
import { apiOptions } from '../../../../src/answers/api/api-options.js'
import { passwordVariable } from '../../../../src/program/cli/signing-account.js'
import { allOptions, flagOf, otherVariables, variableOf } from '../../../../src/node/config/all-options.js'
import { fromText } from '../../../../src/node/config/values.js'
import { mempoolOptions } from '../../../../src/ledger/mempool/mempool-options.js'
import { nodeOptions } from '../../../../src/node/node-options.js'
import { commandOf, configOf, refusalOf, samples } from '../../../support/builders/config.js'

const nested = (key: string, value: unknown) => {
  const [section = '', name = ''] = key.split('.')
  return JSON.stringify({ [section]: { [name]: value } })
}

describe('the options', () => {
  it('have names of their own everywhere', () => {
    for (const name of [({ key }: { key: string }) => key, variableOf, flagOf] as const) {
      const names = allOptions.map(name)
      expect(new Set(names).size).toBe(names.length)
    }
    for (const option of allOptions) expect(Object.keys(otherVariables)).not.toContain(variableOf(option))
    expect(otherVariables).toHaveProperty(passwordVariable)
  })

  it('have a default that is valid', () => {
    const set = allOptions.filter((option) => option.default !== undefined)
    expect(set.length).toBeGreaterThan(10)
    for (const option of set) {
      const text = nested(option.key, option.default)
      expect(() => configOf(text, { command: commandOf(option) })).not.toThrow()
    }
  })

  it('all have samples', () => {
    expect(Object.keys(samples)).toEqual(allOptions.map(({ key }) => key))
  })
})

describe.each(allOptions.map((option) => [option.key, option] as const))('%s', (key, option) => {
  const { accepted, refused } = samples[key]
  const command = commandOf(option)
  const value = fromText(option, accepted)

  it('is taken from a file, the environment and a flag', () => {
    expect(configOf(nested(key, value), { command }).get(option)).toEqual(value)
    expect(configOf(undefined, { command, env: { [variableOf(option)]: accepted } }).get(option)).toEqual(value)
    expect(configOf(undefined, { command, flags: new Map([[key, value]]) }).get(option)).toEqual(value)
  })

  it('is refused with a value that it cannot have, naming place and option', () => {
    const wrong = fromText(option, refused)
    const told = `${key} is not ${option.expects}`
    expect(refusalOf(() => configOf(nested(key, wrong), { command }))).toContain(`node.json5:1: ${told}`)
    const env = { [variableOf(option)]: refused }
    expect(refusalOf(() => configOf(undefined, { command, env }))).toContain(`${variableOf(option)}: ${told}`)
    const flags = new Map([[key, wrong]])
    expect(refusalOf(() => configOf(undefined, { command, flags }))).toContain(`${flagOf(option)}: ${told}`)
  })

  it.each([null, {}, [], [1], '', 1.5, NaN, Infinity, true])(
    'is not given %j where that is of another kind',
    (other) => {
      const ofKind = typeof other === typeof value && Array.isArray(other) === Array.isArray(value) && other !== null
      if (ofKind && typeof other !== 'object' && other !== '' && typeof other !== 'number') return
      // A list that may be empty.
      if (JSON.stringify(other) === JSON.stringify(option.default)) {
        expect(configOf(nested(key, other), { command }).get(option)).toEqual(other)
        return
      }
      const text = nested(key, 'PLACE').replace(
        '"PLACE"',
        Number.isNaN(other) ? 'NaN' : other === Infinity ? 'Infinity' : JSON.stringify(other),
      )
      expect(refusalOf(() => configOf(text, { command }))).toContain(key)
    },
  )

  it('belongs to its commands alone', () => {
    const others = (['devnet', 'start'] as const).filter((name) => option.commands?.includes(name) === false)
    for (const other of others) {
      const message = refusalOf(() => configOf(nested(key, value), { command: other }))
      expect(message).toBe(`node.json5:1: ${key} is no option of ${other}`)
      const env = { [variableOf(option)]: accepted }
      expect(refusalOf(() => configOf(undefined, { command: other, env }))).toContain(`is no option of ${other}`)
    }
  })
})

describe('precedence', () => {
  const file = '{ api: { batch: 1, connections: 1, answerCache: 1 } }'
  const env = { DIDLEDGER_API_BATCH: '2', DIDLEDGER_API_CONNECTIONS: '2' }
  const flags = new Map([[apiOptions.batch.key, 3]])

  it('is flag, environment, file, default', () => {
    const config = configOf(file, { env, flags })
    const { batch, connections, answerCache, rateRequests } = apiOptions
    expect([batch, connections, answerCache, rateRequests].map((option) => config.get(option))).toEqual([
      3, 2, 1, 12_000,
    ])
    expect([batch, connections, answerCache, rateRequests].map((option) => config.sourceOf(option))).toEqual([
      'flag --rpc-batch',
      'environment DIDLEDGER_API_CONNECTIONS',
      'file node.json5:1',
      'default',
    ])
  })

  it('does not merge lists', () => {
    const config = configOf("{ api: { host: ['10.0.0.1', '10.0.0.2'] } }", { env: { DIDLEDGER_API_HOST: '::1' } })
    expect(config.get(apiOptions.host)).toEqual(['::1'])
  })

  it('takes lists of a variable with blanks after commas, as people write them', () => {
    const listed = configOf('{}', { env: { DIDLEDGER_API_HOST: ' 10.0.0.1, 10.0.0.2\n' } })
    expect(listed.get(apiOptions.host)).toEqual(['10.0.0.1', '10.0.0.2'])
  })

  it('does not excuse what is wrong in a place that loses', () => {
    expect(refusalOf(() => configOf('{ api: { batch: 0 } }', { env, flags }))).toContain(
      'node.json5:1: api.batch is not',
    )
  })
})

describe('names that are no options', () => {
  it.each([
    ['{ api: { hots: [] } }', 'node.json5:1: there is no option api.hots; did you mean api.host?'],
    ['{\n  api: {\n    // here\n    Host: [] } }', 'node.json5:4: there is no option api.Host; did you mean api.host?'],
    ['{ host: [] }', 'node.json5:1: there is no option host; did you mean api.host?'],
    ['{ mempol: { size: 9e6 } }', 'node.json5:1: there is no option mempol; did you mean mempool?'],
    ['{ api: { zzzzzzzzzzzz: 1 } }', 'node.json5:1: there is no option api.zzzzzzzzzzzz'],
    ['{ __proto__: { batch: 1 } }', 'node.json5:1: there is no option __proto__'],
    ['{ api: { constructor: 1 } }', 'node.json5:1: there is no option api.constructor'],
    [
      '{ api: { host: { batch: 1 } } }',
      'node.json5:1: api.host is not a list of 1 to 16 different addresses: {"batch":1}',
    ],
    ['{ api: { batch: NaN } }', 'node.json5:1: api.batch is not a number of requests from 1 to 10000: NaN'],
    [
      "{ api: { host: ['::1', '::1'] } }",
      'node.json5:1: api.host is not a list of 1 to 16 different addresses: ["::1","::1"]',
    ],
    ['{ api: 5 }', 'node.json5:1: api has to be an object of options'],
    ['{ "a\\nb": 5 }', 'node.json5:1: there is no option "a\\nb"'],
  ])('%s', (text, message) => {
    expect(refusalOf(() => configOf(text))).toBe(message)
  })

  it.each([
    ['postgress://me:secret/word@db/rows', 'postgress:…@db/rows'],
    ['me:secret@db', 'me:…@db'],
    ['http://db/a', 'http://db/a'],
  ])('a URL is refused without its password: %s', (url, shown) => {
    const options = { command: 'gateway' as const, flags: new Map([['gateway.shards', [url]]]) }
    const message = refusalOf(() => configOf(undefined, options))
    expect(message).toContain(`: [${JSON.stringify(shown)}]`)
    expect(message).not.toContain('secret')
  })

  it.each([
    ['DIDLEDGER_API_HOTS', 'did you mean DIDLEDGER_API_HOST?'],
    ['DIDLEDGER_HOST', 'did you mean DIDLEDGER_API_HOST?'],
    ['DIDLEDGER_DATA_DIR', 'did you mean DIDLEDGER_STORAGE_DATA_DIR?'],
    ['DIDLEDGER_PORT_BASE', 'did you mean DIDLEDGER_NODE_PORT_BASE?'],
    ['DIDLEDGER_PASWORD', 'did you mean DIDLEDGER_PASSWORD?'],
  ])('%s in the environment', (variable, hint) => {
    const message = refusalOf(() => configOf(undefined, { env: { [variable]: '1' } }))
    expect(message).toBe(`the environment: there is no option ${variable}; ${hint}`)
  })

  it('but not variables of others, nor the documented ones', () => {
    const env = { PATH: '/bin', DIDLEDGER: '1', DIDLEDGER_PASSWORD: 'x', DIDLEDGER_CONFIG: 'y', didledger_x: '1' }
    expect(configOf(undefined, { env }).settings.every(({ origin }) => origin === 'default')).toBe(true)
  })
})

it('a value has the type of its row', () => {
  const config = configOf('{}')
  const size: number = config.get(mempoolOptions.size)
  const level: 'debug' | 'info' | 'warn' | 'error' | 'silent' = config.get(nodeOptions.logLevel)
  expect([size, level]).toEqual([20_000_000, 'warn'])
})

it.each([
  ['DIDLEDGER_SERVICE_HOST', '10.96.0.7'],
  ['DIDLEDGER_NODE_SERVICE_HOST', '10.96.0.7'],
  ['DIDLEDGER_SERVICE_PORT', '20334'],
  ['DIDLEDGER_SERVICE_PORT_REST', '20334'],
  ['DIDLEDGER_PORT', 'tcp://10.96.0.7:20334'],
  ['DIDLEDGER_PORT_20334_TCP', 'tcp://10.96.0.7:20334'],
  ['DIDLEDGER_PORT_20334_TCP_ADDR', '10.96.0.7'],
])('what Kubernetes sets for a Service named didledger is no option: %s', (variable, text) => {
  const { settings } = configOf(undefined, { env: { [variable]: text } })
  expect(settings.every(({ origin }) => origin === 'default')).toBe(true)
})

it.each([
  ['DIDLEDGER_PORT', '20334'],
  ['DIDLEDGER_SERVICE_PORT', 'tcp'],
  ['DIDLEDGER_API_PORTS', 'tcp://10.96.0.7:20334'],
])('a misspelt option is refused though it looks alike: %s=%s', (variable, text) => {
  expect(refusalOf(() => configOf(undefined, { env: { [variable]: text } }))).toContain(`no option ${variable}`)
})
