import { suite } from './suite.js'

/** `npm run test:postgres`: shards in servers of PostgreSQL, which a machine may lack. */
export default suite(['test/postgres/**/*.postgres.ts'], { fileParallelism: false })
