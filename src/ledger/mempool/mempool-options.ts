import { optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { policy, type PoolLimits } from './policy.js'

const option = optionsFor<'mempool', PoolLimits>()

export const mempoolOptions = {
  size: option({
    key: 'mempool.size',
    flag: '--pool-size <bytes>',
    ...wholeNumber(8_000_000, 2 ** 32, 'a number of bytes'),
    default: policy.poolSize,
    description: 'transactions that wait for a block, all together',
    unit: 'bytes',
    tuning: true,
    sets: 'poolSize',
  }),
  expiry: option({
    key: 'mempool.expiry',
    flag: '--pool-expiry <ms>',
    ...wholeNumber(1000, 365 * 24 * 60 * 60 * 1000, 'a number of milliseconds'),
    default: policy.expiry,
    description: 'how long a transaction may wait for a block',
    unit: 'ms',
    tuning: true,
    sets: 'expiry',
  }),
}
