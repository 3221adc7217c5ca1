import { type Static, type TObject, Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { parseAddress } from '../../../base/primitives/address.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { isDevnetMnemonic, maxDevnetAccounts } from '../../../clients/wallet/devnet-accounts.js'
import type { ApiContext } from '../api-context.js'
import type { DevnetAccount, DevnetControl } from '../node-handles.js'
import { readAmount, readParameter } from '../parameters.js'
import { StreamedAnswer, writeText } from '../streams/streamed-answer.js'
import { balance } from '../results/coin-results.js'
import { amount, amountParam, closed, hash, hashParam, oneOf, publicKey } from '../schemas/common-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { method, type MethodRow, type RpcCaller, type RpcMethod } from './method.js'

/** Methods of a devnet alone. */
export function devnetMethods(devnet: DevnetControl, maxMoney: bigint): readonly RpcMethod[] {
  return [
    control({
      name: 'dev_mine',
      summary: 'Makes blocks one after another.',
      params: Type.Object({
        blocks: Type.Optional(count('how many, from 1 to 10000', { default: 1 })),
      }),
      result: Type.Array(Type.String({ description: 'block hash' })),
      run: ({ blocks = 1 }) => devnet.mine(blocks),
    }),
    control({
      name: 'dev_increaseTime',
      summary: 'Moves the clock forward.',
      params: Type.Object({ seconds: count('by how many seconds') }),
      result: Type.Integer({ description: 'the time of the clock in Unix seconds' }),
      run: ({ seconds }) => devnet.increaseTime(seconds),
    }),
    control({
      name: 'dev_setTime',
      summary: 'Sets the clock, forward or back, but not to before the tip.',
      params: Type.Object({ time: count('Unix seconds, not before the time of the tip') }),
      result: Type.Integer({ description: 'the same time' }),
      run: ({ time }) => devnet.setTime(time),
    }),
    control({
      name: 'dev_setNextBlockTime',
      summary: 'Sets the time of the next block, and the clock with it.',
      params: Type.Object({ time: count('Unix seconds, later than the tip') }),
      result: Type.Integer({ description: 'the same time' }),
      run: async ({ time }) => {
        await devnet.setNextBlockTime(time)
        return time
      },
    }),
    control({
      name: 'dev_accounts',
      summary: 'The accounts that have coins from the start, with what they have now.',
      result: Type.Array(
        closed({
          index: Type.Integer({ minimum: 0, description: 'n of its path' }),
          address: Type.String({ description: 'where its coins are' }),
          did: Type.String({ description: 'its DID, whether it is registered or not' }),
          publicKey: publicKey('compressed'),
          balance: amount('coins on the chain'),
        }),
        { maxItems: maxDevnetAccounts },
      ),
      run: (_, context) => devnet.accounts.map((account) => accountResult(context, account)),
    }),
    control({
      name: 'dev_keys',
      summary:
        'The mnemonic of the accounts, and the private keys of each, in hex; those of another mnemonic than that of every devnet on this machine alone, or with the token.',
      result: closed({
        mnemonic: Type.String({ description: 'that of every devnet, or of --mnemonic' }),
        keys: Type.Array(
          closed({
            index: Type.Integer({ minimum: 0, description: 'n of its path' }),
            privateKey: hash('of the account'),
            recoveryKey: Type.Optional(hash('of the second key of its DID')),
          }),
          { maxItems: maxDevnetAccounts },
        ),
      }),
      run: (_, _context, { strangerRefusal }) => {
        if (strangerRefusal !== undefined && !isDevnetMnemonic(devnet.mnemonic)) {
          throw new RuleError(
            'request-forbidden',
            `dev_keys: the mnemonic is not that of every devnet; ${strangerRefusal}`,
          )
        }
        return { mnemonic: devnet.mnemonic, keys: devnet.accounts.map(keysResult) }
      },
    }),
    control({
      name: 'dev_faucet',
      summary: 'Pays coins out of the faucet.',
      params: Type.Object({
        address: Type.String({ description: 'the payee' }),
        amount: amountParam,
      }),
      result: Type.String({ description: 'txid' }),
      run: ({ address, amount: coins }) => {
        if (parseAddress(address) === undefined) {
          throw new RuleError('request-parameter', 'address: an address is 34 characters of base58 with a checksum')
        }
        return devnet.faucet(address, readAmount('amount', coins, maxMoney))
      },
    }),
    control({
      name: 'dev_snapshot',
      summary: 'Remembers the chain, what waits for a block, and the clock.',
      result: Type.Integer({ minimum: 1, description: 'the number of the snapshot' }),
      run: () => devnet.snapshot(),
    }),
    control({
      name: 'dev_revert',
      summary: 'Takes the chain, what waits for a block, and the clock back to a snapshot, as often as you like.',
      params: Type.Object({ id: count('the number of the snapshot', { minimum: 1 }) }),
      result: Type.Literal(true, { description: 'it is done' }),
      run: async ({ id }) => {
        await devnet.revert(id)
        return true
      },
    }),
    control({
      name: 'dev_reorg',
      summary: 'Replaces the last blocks by as many empty ones, as a reorganisation does.',
      params: Type.Object({
        blocks: Type.Optional(count('how many, from 1 to 288', { default: 1 })),
        transactions: Type.Optional(
          oneOf(
            ['return', 'drop'],
            'what becomes of those in the blocks: return, the default, to wait for a block again, or drop',
          ),
        ),
      }),
      result: closed({
        disconnected: Type.Array(hash(), { description: 'the blocks that left the chain, newest first' }),
        connected: Type.Array(hash(), { description: 'those in their place, oldest first' }),
      }),
      run: ({ blocks = 1, transactions }) => devnet.reorg(blocks, { drop: transactions === 'drop' }),
    }),
    control({
      name: 'dev_dropTransaction',
      summary: 'Takes a transaction that waits for a block out of the pool, with all that depend on it.',
      params: Type.Object({ txid: hashParam('id of the transaction') }),
      result: Type.Array(hash(), { description: 'txids of those that left, in order of arrival' }),
      run: ({ txid }) => devnet.dropTransaction(readParameter('hash', 'txid', txid)),
    }),
    control({
      name: 'dev_dumpState',
      summary: 'The blocks, what waits for a block, and the clock, as text for dev_loadState.',
      result: Type.String({ description: 'base64' }),
      run: () => dumped(devnet),
    }),
    control({
      name: 'dev_loadState',
      summary: 'Puts a state in the place of the chain, of what waits for a block, and of the clock.',
      params: Type.Object({ state: Type.String({ description: 'what dev_dumpState returned, on any devnet' }) }),
      result: Type.Literal(true, { description: 'it is done' }),
      run: async ({ state }) => {
        await devnet.loadState(state)
        return true
      },
    }),
  ]
}

/** Without the private key: most programs that list accounts show them. */
function accountResult({ reader }: ApiContext, { index, address, did, publicKey: key }: DevnetAccount) {
  return {
    index,
    address,
    did,
    publicKey: toHex(key),
    balance: balance(reader, readParameter('address', 'address', address)),
  }
}

function keysResult({ index, privateKey, recovery }: DevnetAccount) {
  return { index, privateKey: toHex(privateKey), ...(recovery && { recoveryKey: toHex(recovery.privateKey) }) }
}

/**
 * The longest text that there is, and its JSON.
 * @tuning bytes: memory counted for an answer of `dev_dumpState`
 */
const dumpMemory = 32 * 1024 * 1024

let dumps = 0

/** A state that is sent in parts. Each is made anew: an earlier one may lack the latest block. */
function dumped(devnet: DevnetControl): StreamedAnswer {
  return new StreamedAnswer({
    key: `dev_dumpState ${++dumps}`,
    repeatable: false,
    search: dumpMemory,
    write: async (sink) => writeText(sink, JSON.stringify(await devnet.dumpState(sink.signal))),
  })
}

function control<P extends TObject>(
  row: Omit<MethodRow<P>, 'access' | 'decimalText' | 'run'> & {
    readonly run: (params: Static<P>, context: ApiContext, caller: RpcCaller) => unknown
  },
): RpcMethod {
  return method<P>({
    ...row,
    // They change the chain: a name that is mistyped must not leave its value to the default.
    params: { ...(row.params ?? (Type.Object({}) as P)), additionalProperties: false },
    access: 'control',
    decimalText: false,
    run: (context, params, caller) => row.run(params, context, caller),
  })
}
