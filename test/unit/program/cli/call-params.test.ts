import { describe, expect, it } from 'vitest'
import { callParams } from '../../../../src/program/cli/call-params.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'

const digits = '1234567890'.repeat(6) + '1234'

describe('the parameters of a call', () => {
  it.each<[string[], unknown]>([
    [[], []],
    [['height=3', 'verbose=true', 'address=Exyz'], { height: 3, verbose: true, address: 'Exyz' }],
    [['query={"a":1}', 'did=did:ledger:i=x', 'empty='], { query: { a: 1 }, did: 'did:ledger:i=x', empty: '' }],
    [['{"a": [1]}'], { a: [1] }],
    [[' [1, "x"]'], [1, 'x']],
    [
      ['3', 'abc', '"3"', 'null'],
      [3, 'abc', '3', null],
    ],
    // Neither a hash of digits nor a number with zeros before it loses anything.
    [[`txid=${digits}`, 'n=007', 'big=9007199254740993'], { txid: digits, n: '007', big: '9007199254740993' }],
    [['__proto__=1'], Object.fromEntries([['__proto__', 1]])],
  ])('are read from words: %j', (words, params) => {
    expect(callParams(words)).toEqual(params)
  })

  it.each<[string[], string]>([
    [['{"a":'], 'the parameters are not JSON'],
    [['a=1', '2'], '2: parameters are either all of the form key=value, or none'],
    [['a=1', 'a=2'], 'a is given twice'],
  ])('are refused: %j', (words, message) => {
    expect(() => callParams(words)).toThrow(UserError)
    expect(() => callParams(words)).toThrow(message)
  })
})
