import { expect, it } from 'vitest'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { documentOf, createIdentity } from '../../../../src/clients/wallet/did-identity.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { requirePlain, strictValue } from '../../../../src/identity/did/plain-json.js'

const context = { account: devnetAccount(0), specification: 's', created: '2030-01-01T00:00:00Z' }

it('text to be signed is the value of every JSON reader, or refused', () => {
  const text = '{"a":[1,{"b":null}],"10":"ä"}'
  expect(strictValue(text)).toEqual(JSON.parse(text))
  for (const other of ['', '{"a":1,"a":1}', '[1.0]', '1e400', '{"__proto__":{}}']) {
    expect(() => strictValue(other)).toThrow(RuleError)
  }
})

it('a value that JSON would change is refused, with the path to it', () => {
  requirePlain([{ a: [1.5, null] }], 'services')
  const refused = (n: unknown) => () => requirePlain([{ n: [n] }], 'services')
  for (const n of [Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53, -(2 ** 53)]) {
    expect(refused(n)).toThrow(`services[0].n[0]: ${n} is no number that every reader of JSON takes alike`)
  }
  expect(refused(undefined)).toThrow('services[0].n[0]: there is no JSON form of this undefined')
})

it('a service as text is signed as it stands, or refused', () => {
  const create = (service: string) =>
    createIdentity(context, { services: [service], expires: '2031-01-01T00:00:00Z' }).payload
  const text = '{"id":"#a","type":"T","serviceEndpoint":"https://x.example"}'
  expect(documentOf(create(text)).services).toMatchObject([{ type: 'T' }])
  const twice = text.replace('}', ',"serviceEndpoint":"https://evil.example"}')
  expect(() => create(twice)).toThrow('the name "serviceEndpoint" again at character 61')
})
