import { optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { policy, type PoolLimits } from './policy.js'

const { tuning, table } = optionsFor<PoolLimits>()

export const mempoolOptions = table('mempool', {
  size: tuning('poolSize', {
    flag: '--pool-size <bytes>',
    ...wholeNumber(8_000_000, 2 ** 32, 'bytes'),
    default: policy.poolSize,
    description: 'transactions that wait for a block, all together',
  }),
  expiry: tuning({
    flag: '--pool-expiry <ms>',
    ...wholeNumber(1000, 365 * 24 * 60 * 60 * 1000, 'ms'),
    default: policy.expiry,
    description: 'how long a transaction may wait for a block',
  }),
})
