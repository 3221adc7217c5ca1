import { expect, it } from 'vitest'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { documentOf, createIdentity } from '../../../../src/clients/wallet/did-identity.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { strictValue } from '../../../../src/identity/did/plain-json.js'

const context = { account: devnetAccount(0), specification: 's', created: '2030-01-01T00:00:00Z' }

it('text to be signed is the value of every JSON reader, or refused', () => {
  const text = '{"a":[1,{"b":null}],"10":"ä"}'
  expect(strictValue(text)).toEqual(JSON.parse(text))
  for (const other of ['', '{"a":1,"a":1}', '[1.0]', '1e400', '{"__proto__":{}}']) {
    expect(() => strictValue(other)).toThrow(RuleError)
  }
})

it('a service that JSON would change is refused, with the path to what is wrong', () => {
  const create = (n: unknown) =>
    createIdentity(context, {
      services: [{ id: '#a', type: 'T', serviceEndpoint: 'https://x.example', n }],
      expires: '2031-01-01T00:00:00Z',
    }).payload
  expect(documentOf(create([1.5, null])).services).toMatchObject([{ type: 'T' }])
  expect(() => create([Number.NaN])).toThrow('service[0].n[0]: NaN is no number that every reader of JSON takes alike')
  expect(() => create(undefined)).toThrow('service[0].n: there is no JSON form of this undefined')
  expect(() => create(new Date())).toThrow('service[0].n: there is no JSON form of this object')
})

it('a service as text is signed as it stands, or refused', () => {
  const create = (service: string) =>
    createIdentity(context, { services: [service], expires: '2031-01-01T00:00:00Z' }).payload
  const text = '{"id":"#a","type":"T","serviceEndpoint":"https://x.example"}'
  expect(documentOf(create(text)).services).toMatchObject([{ type: 'T' }])
  const twice = text.replace('}', ',"serviceEndpoint":"https://evil.example"}')
  expect(() => create(twice)).toThrow('the name "serviceEndpoint" again at character 61')
})
