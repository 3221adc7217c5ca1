import { expect, it } from 'vitest'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { documentOf, createIdentity } from '../../../../src/clients/wallet/did-identity.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { strictValue } from '../../../../src/identity/did/plain-json.js'

it('text to be signed is the value of every JSON reader, or refused', () => {
  const text = '{"a":[1,{"b":null}],"10":"ä"}'
  expect(strictValue(text)).toEqual(JSON.parse(text))
  for (const other of ['', '{"a":1,"a":1}', '[1.0]', '1e400', '{"__proto__":{}}']) {
    expect(() => strictValue(other)).toThrow(RuleError)
  }
})

it('a service as text is signed as it stands, or refused', () => {
  const context = { account: devnetAccount(0), specification: 's', created: '2030-01-01T00:00:00Z' }
  const create = (service: string) =>
    createIdentity(context, { services: [service], expires: '2031-01-01T00:00:00Z' }).payload
  const text = '{"id":"#a","type":"T","serviceEndpoint":"https://x.example"}'
  expect(documentOf(create(text)).services).toMatchObject([{ type: 'T' }])
  const twice = text.replace('}', ',"serviceEndpoint":"https://evil.example"}')
  expect(() => create(twice)).toThrow('the name "serviceEndpoint" again at character 61')
})
