// The layers of docs/architecture.md, lowest first. A wing imports only from rows above its own, never sideways or from below it.
const wings = [
  ['base'],
  ['identity'],
  ['clients', 'ledger'],
  ['voting'],
  ['network'],
  ['answers'],
  ['node'],
  ['index.ts'],
  ['program'],
  ['explorer'],
]
// The order inside wings: names without .ts are folders, `files` are those of the wing that no row names.
const inside = {
  base: [['errors'], ['runtime'], ['primitives'], ['crypto']],
  identity: [['did'], ['credentials'], ['proofs'], ['did-query'], ['did-index']],
  clients: [['verifier'], ['light'], ['witness'], ['wallet'], ['client'], ['watch'], ['registrar']],
  ledger: [
    ['consensus'],
    ['storage'],
    ['engine'],
    ['chain'],
    ['state'],
    ['mirror'],
    ['shipping'],
    ['mempool'],
    ['events'],
    ['production'],
  ],
  'ledger/storage': [['failure.ts', 'native-level.ts'], ['rows'], ['write'], ['files'], ['care']],
  voting: [['tendermint'], ['files'], ['remote'], ['height'], ['voting.ts']],
  network: [
    ['link.ts', 'assumed-block.ts', 'penalties.ts'],
    ['address'],
    ['wire'],
    ['transport', 'peers'],
    ['fetch'],
    ['sync', 'relay', 'join'],
    ['files'],
    ['network.ts'],
  ],
  answers: [['identifiers'], ['prover'], ['resolver'], ['api']],
  'answers/api': [
    ['api-limits.ts', 'node-handles.ts'],
    ['schemas'],
    ['parameters.ts'],
    ['streams'],
    ['http'],
    ['metrics'],
    ['api-context.ts'],
    ['results'],
    ['rpc'],
    ['ws'],
    ['paths'],
    ['servers', 'files'],
  ],
  node: [['heads', 'standing'], ['devnet'], ['files'], ['config', 'serving'], ['gateway'], ['library']],
  program: [['console'], ['cli']],
}

/** A rule: what `from` selects imports nothing that `to` selects; a text is a pattern of paths. */
function forbidden(name, from, to, comment) {
  const selected = (what) => (typeof what === 'string' ? { path: what } : what)
  return { name, severity: 'error', from: selected(from), to: selected(to), ...(comment && { comment }) }
}

/** The files of src except those of a pattern. */
const srcExcept = (pathNot) => ({ path: '^src/', pathNot })
/** Modules of Node. */
const core = { dependencyTypes: ['core'] }
/** Imports that load a module at once. */
const atOnce = { dynamic: false, dependencyTypesNot: ['type-only'] }

/** One rule for each place of an order: what lies in it imports nothing from a later place of the same folder. */
function order(folder, rows) {
  const named = rows.flat().filter((name) => name !== 'files')
  const place = (name) => {
    if (name === 'files') return `^${folder}/(?!(${named.join('|').replaceAll('.', '\\.')})$)[^/]+\\.ts$`
    return name.endsWith('.ts') ? `^${folder}/${name.replace('.', '\\.')}$` : `^${folder}/${name}/`
  }
  return rows.flatMap((row, depth) =>
    row.map((name) => {
      const below = [place(name), ...rows.slice(0, depth).flat().map(place)]
      return forbidden(
        `layer-${folder.slice('src/'.length)}${folder === 'src' ? '' : '/'}${name}`,
        place(name),
        { path: `^${folder}/`, pathNot: below },
        `${name} imports only from the layers below it`,
      )
    }),
  )
}

const layers = [order('src', wings), ...Object.entries(inside).map(([wing, rows]) => order(`src/${wing}`, rows))].flat()

module.exports = {
  forbidden: [
    ...layers,
    forbidden('no-cycles', {}, { circular: true }),
    forbidden(
      'wallet-below',
      '^src/clients/wallet/',
      srcExcept('^src/(clients/wallet|base|identity/(did|credentials))/'),
      'the wallet works offline: primitives, crypto, did and credentials are all it needs',
    ),
    forbidden(
      'resolver-below',
      '^src/answers/resolver/',
      '^src/(ledger/(chain|mempool|production)|voting|network|clients)/',
    ),
    forbidden(
      'pure-layers',
      '^src/(base/primitives|identity/(did|proofs)|answers/identifiers|ledger/consensus|voting/tendermint)/',
      core,
      'pure layers do no I/O; runtime/node-crypto.ts is the one thing they take from Node',
    ),
    forbidden(
      'rules-never-verify',
      '^src/(identity/(did|proofs)|ledger/consensus|voting/tendermint)/',
      '^src/base/crypto/',
      'consensus, did and the vote return the signature checks they need; the caller runs them in bulk',
    ),
    forbidden(
      'level-in-one-place',
      srcExcept('^src/ledger/storage/native-level\\.ts$'),
      'node_modules/(level|classic-level|memory-level)/',
    ),
    forbidden('pg-in-one-place', srcExcept('^src/ledger/engine/postgres'), 'node_modules/pg/'),
    forbidden(
      'care-when-asked',
      srcExcept('^src/ledger/storage/care/(backup|level|check-map-rows|build-map)'),
      {
        path: '^src/ledger/storage/care/(backup|backup-place|prune-block|build-map|check-map-rows|level/salvage)\\.ts$',
        ...atOnce,
      },
      'a node reads backup, salvage, pruning and rebuilding when it is asked for them; the checks of a start are small',
    ),
    forbidden('http-in-one-place', srcExcept('^src/answers/api/'), 'node_modules/ws/'),
    forbidden(
      'libp2p-in-one-place',
      srcExcept('^src/network/transport/'),
      'node_modules/(libp2p|@libp2p|@chainsafe|@multiformats)/',
    ),
    forbidden(
      'libp2p-when-needed',
      srcExcept('^src/network/transport/'),
      { path: '^src/network/transport/', pathNot: '^src/network/transport/transport-limits\\.ts$', ...atOnce },
      'a node without peers does not wait for libp2p to load',
    ),
    forbidden(
      'pages-in-browsers',
      '^src/explorer/(?!sign/)',
      srcExcept(
        '^src/(explorer/|base/(errors|primitives)/|identity/(did|proofs)/|clients/light/|answers/api/schemas/|ledger/events/)',
      ),
      'pages run in a browser: rooms below them that do so too, packages for browsers, and types of answers',
    ),
    forbidden(
      'pages-sign-when-asked',
      '^src/explorer/(?!sign/)',
      { path: '^src/explorer/sign/', ...atOnce },
      'only the forms of a devnet sign',
    ),
    forbidden('pages-know-answers-as-types', '^src/explorer/', {
      path: '^src/(answers|ledger)/',
      dependencyTypesNot: ['type-only'],
    }),
    forbidden('pages-without-node', '^src/explorer/', core),
    forbidden('light-in-browsers', '^src/clients/light/', core, 'a light resolver runs in a browser'),
    forbidden('worker-pool-in-node', srcExcept('^src/(node|base/crypto)/'), '^src/base/crypto/verifier-pool\\.ts$'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js'] },
  },
}
