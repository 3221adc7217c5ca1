import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { visible } from '../../../../src/base/runtime/visible-text.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import {
  addressOfLabel,
  type Labels,
  labelsPath,
  readLabels,
  withLabel,
  withoutLabel,
  writeLabels,
} from '../../../../src/clients/wallet/labels.js'

const [alice, bob] = [devnetAccount(0).address, devnetAccount(1).address]
const none: Labels = new Map<string, string>()

describe('labels', () => {
  let directory: string
  let path: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'labels-'))
    path = labelsPath(join(directory, 'wallet.json'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  it('are kept beside the keystore, for its owner alone', () => {
    expect(readLabels(path)).toEqual(none)
    const labels = withLabel(withLabel(none, alice, ' Ada  Lovelace '), bob, 'Ünal 🙂')
    writeLabels(path, labels)
    expect(path.endsWith('wallet.json.labels.json')).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readLabels(path)).toEqual(labels)
    expect([...labels.values()]).toEqual(['Ada  Lovelace', 'Ünal 🙂'])
    writeLabels(path, withoutLabel(labels, alice))
    expect([...readLabels(path)]).toEqual([[bob, 'Ünal 🙂']])
    expect(() => withoutLabel(readLabels(path), alice)).toThrow(`${alice} has no label`)
  })

  it('name one address each, exactly, however their letters are composed', () => {
    const labels = withLabel(none, alice, 'e\u0301lan')
    expect(addressOfLabel(labels, '\u00e9lan')).toBe(alice)
    for (const other of ['Élan', 'elan', ' élan', 'élan ', '']) expect(addressOfLabel(labels, other)).toBeUndefined()
    expect(() => withLabel(labels, bob, '\u00e9lan')).toThrow(`is that of ${alice} already`)
    expect([...withLabel(labels, alice, '\u00e9lan')]).toEqual([[alice, '\u00e9lan']])
    expect([...withLabel(labels, alice, 'other').values()]).toEqual(['other'])
  })

  it.each([
    ['', 'at least one character'],
    ['  ', 'at least one character'],
    ['x\u001b[2J', 'characters that are not seen'],
    ['two\nlines', 'characters that are not seen'],
    ['a\u202eb', 'characters that are not seen'],
    [bob, 'could be taken for an address'],
    [`${bob.slice(0, -1)}z`, 'could be taken for an address'],
    ['did:ledger:x', 'could be taken for an address or a DID'],
    ['-x', 'does not begin with -'],
    ['=1+1', 'does not begin with ='],
    [7, 'a label is a text'],
  ])('%j is none', (text, why) => {
    expect(() => withLabel(none, alice, text)).toThrow(why)
  })

  it('are of addresses alone', () => {
    expect(() => withLabel(none, 'Bob', 'x')).toThrow('Bob is no address')
  })

  it('of a file that something else wrote are refused with its name', () => {
    const file = (labels: unknown, more: object = {}) => ({ format: 'didledger-labels', version: 1, labels, ...more })
    for (const [value, why] of [
      [{}, 'holds no labels'],
      [null, 'holds no labels'],
      [[], 'holds no labels'],
      [file({ [alice]: 'x' }, { version: 2 }), 'holds no labels'],
      [file(null), 'holds no labels'],
      [file({ [alice]: 'x', [bob]: 'x' }), 'is damaged: the label "x" is that of'],
      [file({ [alice]: 'x\u001b' }), 'is damaged: the label'],
      [file({ nobody: 'x' }), 'is damaged: nobody is no address'],
      [file([1]), 'is damaged'],
    ] as const) {
      writeFileSync(path, JSON.stringify(value))
      expect(() => readLabels(path), JSON.stringify(value)).toThrow(why)
      expect(() => readLabels(path)).toThrow(path)
    }
    writeFileSync(path, '{')
    expect(() => readLabels(path)).toThrow(UserError)
  })

  it('of any text are refused, or read again as they were written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 70 }), (text) => {
        let labels
        try {
          labels = withLabel(none, alice, text)
        } catch (error) {
          expect(error).toBeInstanceOf(UserError)
          return
        }
        const [label] = labels.values()
        expect(visible(label as string)).toBe(label)
        writeLabels(path, labels)
        expect(readLabels(path)).toEqual(labels)
        expect(addressOfLabel(labels, label as string)).toBe(alice)
        expect(readFileSync(path, 'utf8').endsWith('\n')).toBe(true)
      }),
    )
  })
})
