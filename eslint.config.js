import { readFileSync } from 'node:fs'
import tseslint from 'typescript-eslint'
import { openings, riddles, vocabulary } from './scripts/config/vocabulary.js'

// The pure layers may not see the outside world: no clock, no randomness, no promise, no I/O (docs/architecture.md).
const pureGlobals = ['console', 'process', 'setTimeout', 'setInterval', 'setImmediate', 'fetch', 'performance'].map(
  (name) => ({ name, message: 'pure layers do not touch the outside world' }),
)
const pureProperties = [
  { object: 'Date', property: 'now', message: 'pure layers know no clock' },
  { object: 'Math', property: 'random', message: 'pure layers know no randomness' },
]
// Text of others steers no terminal: it goes out through the door (src/program/console/door.ts), and only channel.ts knows the streams.
const doorGlobals = [{ name: 'console', message: 'write by the context of the command, or by the log' }]
const doorMessage = 'only src/program/console/output-channel.ts writes to the standard streams, and takes ShownText'
const doorProperties = ['stdout', 'stderr', '_rawDebug', 'emitWarning'].map((property) => ({
  ...{ object: 'process', property, message: doorMessage },
}))
const doorImports = ['node:process', 'process', 'node:console', 'console'].map((name) => ({
  name,
  message: doorMessage,
}))
const nestedGenerator =
  'V8 keeps what a generator function within a function closes over; make it one of the module, or a method'
// V8 allocates a map among the old objects for each closure of a generator function that runs. Collections of young objects treat all
// that the map refers to as alive, so that what it closes over, on the way of a block the whole block, stays until a full collection
// (docs/decisions/0031-keep-queued-blocks-encoded.md).
const syntax = [
  { selector: ':function :function[generator=true]', message: nestedGenerator },
  { selector: 'PropertyDefinition[static=false] :function[generator=true]', message: nestedGenerator },
]
// What an operation does is asked of its row, so that a new one needs no other place: only its rules, its builder and its commands name it.
const operationRows = readFileSync(new URL('src/base/primitives/did-operation.ts', import.meta.url), 'utf8')
// A transfer is one of coins too.
const operationNames = [...operationRows.matchAll(/^ {2}(\w+): \{$/gm)]
  .map(([, name]) => name)
  .filter((name) => name !== 'transfer')
  .join('|')
const askTheRow = 'ask the row of the operation (operationForms in primitives/did-operation.ts) what it does'
const operationLiterals = [
  {
    selector: `Literal[value=/^(${operationNames})$/]:not(CallExpression[callee.property.name='command'] > Literal)`,
    message: askTheRow,
  },
  { selector: `MemberExpression[object.name='operationForms'][computed=false]`, message: askTheRow },
]
const namesOperations = ['src/identity/did/build.ts', 'src/identity/did/operations/*.ts']
// Uses of a key, in words.
const wordsOnly = ['src/explorer/did/key-uses.ts']
const pureSyntax = [
  ...syntax,
  { selector: 'AwaitExpression', message: 'pure layers are synchronous' },
  { selector: ':function[async=true]', message: 'pure layers are synchronous' },
  { selector: "NewExpression[callee.name='Promise']", message: 'pure layers are synchronous' },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'pure layers know no clock' },
]

// Rules of this repository alone; .oxlintrc.json has those that others share.
export default tseslint.config(
  { ignores: ['**/dist/', 'coverage/', 'node_modules/', 'test/*', '!test/support/'] },
  { files: ['**/*.{ts,tsx}'], languageOptions: { parser: tseslint.parser } },
  { files: ['src/**/*.{ts,tsx}'], rules: { 'no-restricted-syntax': ['error', ...syntax, ...operationLiterals] } },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/program/console/output-channel.ts'],
    rules: {
      'no-restricted-globals': ['error', ...doorGlobals],
      'no-restricted-imports': ['error', ...doorImports],
      'no-restricted-properties': ['error', ...doorProperties],
    },
  },
  {
    files: [
      'src/base/primitives/**',
      'src/identity/did/**',
      'src/identity/proofs/**',
      'src/ledger/consensus/**',
      'src/voting/tendermint/**',
      'src/base/errors/**',
    ],
    rules: {
      'no-restricted-globals': ['error', ...pureGlobals],
      'no-restricted-properties': ['error', ...pureProperties],
      'no-restricted-syntax': ['error', ...pureSyntax, ...operationLiterals],
    },
  },
  { files: wordsOnly, rules: { 'no-restricted-syntax': ['error', ...syntax] } },
  { files: namesOperations, rules: { 'no-restricted-syntax': ['error', ...pureSyntax] } },
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { didledger: { rules: { openings, riddles, vocabulary } } },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'scripts/**/*.ts'],
    rules: { 'didledger/vocabulary': 'error' },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'scripts/**/*.ts', 'test/support/**/*.ts'],
    rules: { 'didledger/openings': 'error' },
  },
  { files: ['src/**/*.{ts,tsx}'], rules: { 'didledger/riddles': 'error' } },
)
