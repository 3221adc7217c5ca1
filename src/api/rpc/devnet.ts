import { RuleError } from '../../errors.js'
import { parseAddress } from '../../primitives/address.js'
import { parseAmount } from '../../primitives/amount.js'
import type { DevnetControl } from '../context.js'
import type { RpcMethod } from './core.js'
import { integerParam, namedOrListed, type NamedParams, textParam } from './params.js'

/** What only a devnet answers to. */
export function devnetMethods(devnet: DevnetControl, maxMoney: bigint): readonly RpcMethod[] {
  return [
    method('dev_mine', ['blocks'], (params) => devnet.mine(integerParam(params, 'blocks', 1))),
    method('dev_increaseTime', ['seconds'], (params) => devnet.increaseTime(integerParam(params, 'seconds'))),
    method('dev_setNextBlockTime', ['time'], async (params) => {
      const time = integerParam(params, 'time')
      await devnet.setNextBlockTime(time)
      return time
    }),
    method('dev_faucet', ['address', 'amount'], (params) => {
      const address = textParam(params, 'address')
      if (parseAddress(address) === undefined) {
        throw new RuleError('request-parameter', 'address: an address is 34 characters of base58 with a checksum')
      }
      return devnet.faucet(address, amountParam(params, maxMoney))
    }),
  ]
}

function method(name: string, names: readonly string[], run: (params: NamedParams) => unknown): RpcMethod {
  return { name, control: true, run: (_, params) => run(namedOrListed(params, names)) }
}

/** Coins as decimal text, or as a JSON number that is written without an exponent. */
function amountParam(params: NamedParams, maxMoney: bigint): bigint {
  const value = params.get('amount')
  const amount = typeof value === 'string' || typeof value === 'number' ? parseAmount(String(value)) : undefined
  if (amount === undefined) {
    throw new RuleError('request-parameter', 'amount: coins with at most eight decimals are needed, such as "1.5"')
  }
  if (amount === 0n || amount > maxMoney) {
    throw new RuleError('request-parameter', 'amount: it must be above zero and not beyond the supply')
  }
  return amount
}
