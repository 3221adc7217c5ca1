import { optionsFor, wholeNumber } from '../runtime/option.js'
import { maxWorkers, type PoolOptions } from './verifier-pool.js'

const option = optionsFor<'crypto', Pick<PoolOptions, 'workers'>>()

export const cryptoOptions = {
  threads: option({
    key: 'crypto.threads',
    flag: '--verifier-threads <n>',
    ...wholeNumber(1, maxWorkers, 'a number of threads'),
    description: 'threads that verify signatures of blocks; as many as the machine has processors when absent',
    unit: 'threads',
    tuning: true,
    sets: 'workers',
  }),
}
