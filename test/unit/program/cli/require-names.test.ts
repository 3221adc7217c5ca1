import { expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { requireNames } from '../../../../src/program/cli/require-names.js'

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code }))

it('refuses a name that does not exist, with the option and the address', async () => {
  const refused = requireNames(['http://127.0.0.1:1', 'http://nod.example:20334'], '--node', failing('ENOTFOUND'))
  await expect(refused).rejects.toBeInstanceOf(UserError)
  await expect(refused).rejects.toThrow(
    /^--node http:\/\/nod\.example:20334: there is no host of the name nod\.example; /,
  )
})

it('takes names that exist, and those that cannot be looked up now', async () => {
  await requireNames(['http://node.example'], '--node', async () => ({ address: '192.0.2.1' }))
  for (const code of ['EAI_AGAIN', 'EAI_FAIL', 'ETIMEOUT']) {
    await requireNames(['http://node.example'], '--node', failing(code))
  }
})

it('looks up no address', async () => {
  const asked: string[] = []
  const find = async (name: string) => asked.push(name)
  await requireNames(['http://127.0.0.1:1', 'http://[::1]:2', 'http://localhost:3'], '--node', find)
  expect(asked).toEqual(['localhost'])
})
