import { suite } from './suite.js'

const rooms = ['primitives', 'did', 'consensus', 'did-query', 'did-index']

/** Tests of the pure rooms, for npm run test:fast: they share their modules, and repeat random cases a tenth as often. */
export default suite(
  rooms.map((room) => `test/{unit/*,behaviour}/${room}/**/*.test.ts`),
  { env: { DIDLEDGER_QUICK: '1' }, isolate: false, maxWorkers: 2 },
)
