import { optionsFor, wholeNumber } from '../runtime/option.js'
import { maxWorkers, type PoolOptions } from './verifier-pool.js'

const { tuning, table } = optionsFor<Pick<PoolOptions, 'workers'>>()

export const cryptoOptions = table('crypto', {
  threads: tuning('workers', {
    flag: '--verifier-threads <n>',
    ...wholeNumber(1, maxWorkers, 'threads'),
    description: 'threads that verify signatures of blocks; as many as the machine has processors when absent',
  }),
})
