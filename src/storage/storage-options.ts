import { Type } from '@sinclair/typebox'
import { option, wholeNumber } from '../runtime/option.js'
import { cacheSize } from './database.js'

export const storageOptions = {
  dataDir: option({
    key: 'storage.dataDir',
    flag: '--data-dir <directory>',
    schema: Type.String({ minLength: 1 }),
    description: 'where to keep the chain; a temporary directory when absent',
    expects: 'a directory',
  }),
  cacheSize: option({
    key: 'storage.cacheSize',
    flag: '--database-cache <bytes>',
    ...wholeNumber(1 << 20, 2 ** 36, 'a number of bytes'),
    default: cacheSize,
    description: 'what the database keeps in memory of its tables',
    unit: 'bytes',
    tuning: true,
  }),
}
