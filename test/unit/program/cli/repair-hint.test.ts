import { describe, expect, it } from 'vitest'
import { unlessConfirmed } from '../../../../src/ledger/chain/block-run.js'
import { namingTheRepair } from '../../../../src/program/cli/repair-hint.js'
import { RuleError, UserError } from '../../../../src/base/errors/rule-error.js'
import { damaged, reindexHint, StorageError } from '../../../../src/ledger/storage/failure.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { testSpec } from '../../../support/builders/spec.js'
import { oneValidator } from '../../../support/builders/chain.js'

const place = { genesis: 'corp.json', dataDir: '/data/of node' }

async function saidOf(fails: () => never, where: Parameters<typeof namingTheRepair>[0] = place): Promise<unknown> {
  return namingTheRepair(where, () => Promise.resolve().then(fails)).catch((error: unknown) => error)
}

describe('damage of a database', () => {
  it('names each command with the directory', async () => {
    const said = await saidOf(() => {
      throw new StorageError(`${damaged('a row').message}; or: ${reindexHint}`, 'damage')
    })
    expect(said).toBeInstanceOf(UserError)
    const command = "run: npx didledger chain reindex --genesis corp.json --data-dir '/data/of node'"
    expect(String(said).match(/run: [^;]*/g)).toEqual([command, command])
  })

  it('names the check where validators confirm another state', async () => {
    const spec = parseSpec(testSpec(oneValidator()))
    const said = await saidOf(() => {
      throw unlessConfirmed(new RuleError('coinbase-did-root', 'another one'), spec)
    })
    expect(String(said)).toContain("run: npx didledger chain verify --genesis corp.json --data-dir '/data/of node'")
    expect(String(said)).not.toContain('DIR')
  })

  it('is passed on where no directory is known, and so is what is none', async () => {
    const error = damaged('a row')
    const fails = () => {
      throw error
    }
    expect(await saidOf(fails, {})).toBe(error)
    const other = new Error('npx didledger chain reindex --data-dir DIR')
    const failsOtherwise = () => {
      throw other
    }
    expect(await saidOf(failsOtherwise)).toBe(other)
  })
})
