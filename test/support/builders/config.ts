import { type Config, type ConfigSources, readConfig } from '../../../src/node/config/config.js'
import type { OptionKey } from '../../../src/node/options-to-node.js'
import type { NodeCommand, Option } from '../../../src/base/runtime/option.js'

/** A valid and an invalid value of each option, as texts of the command line or the environment. */
export const samples: Readonly<Record<OptionKey, { readonly accepted: string; readonly refused: string }>> = {
  'node.genesis': { accepted: 'pow', refused: '' },
  'node.portBase': { accepted: '40000', refused: '65528' },
  'node.log': { accepted: 'calls,no-blocks', refused: 'call' },
  'node.logFormat': { accepted: 'json', refused: 'xml' },
  'node.logFile': { accepted: './node.log', refused: '' },
  'node.logLevel': { accepted: 'debug', refused: 'loud' },
  'storage.dataDir': { accepted: './data', refused: '' },
  'storage.cacheSize': { accepted: '1048576', refused: '1048575' },
  'storage.prune': { accepted: '1000', refused: '999' },
  'storage.pruneDocuments': { accepted: '288', refused: '287' },
  'storage.stateFrom': { accepted: 'state.dls', refused: '' },
  'storage.keepState': { accepted: 'false', refused: 'no' },
  'storage.backfill': { accepted: 'false', refused: 'no' },
  'storage.archiveProofs': { accepted: 'true', refused: 'yes' },
  'shipping.shards': { accepted: 'postgres://db1,db2:5433/a,postgres://db3/b', refused: 'http://db1/a' },
  'shipping.backlog': { accepted: '1048576', refused: '1048575' },
  'shipping.takeOver': { accepted: 'true', refused: 'yes' },
  'shipping.standBy': { accepted: '20', refused: '19' },
  'mirror.to': { accepted: 's3://bucket/prefix', refused: '' },
  'mirror.versions': { accepted: 'all', refused: 'some' },
  'mirror.nodes': { accepted: 'https://a.example,http://b.example', refused: 'ftp://a.example' },
  'mirror.contact': { accepted: 'ops@example.org', refused: 'x'.repeat(501) },
  'mirror.keepBlocks': { accepted: '16', refused: '15' },
  'mirror.keepSeconds': { accepted: '0', refused: '-1' },
  'api.host': { accepted: '127.0.0.1,::1', refused: '127.0.0.1,' },
  'api.hostNames': { accepted: 'node.example.org,node', refused: 'node.example:443' },
  'api.trustedProxies': { accepted: '192.0.2.7,10.0.0.0/8', refused: '192.0.2.7,192.0.2.7' },
  'api.clientHeader': { accepted: 'x-real-ip', refused: 'x real ip' },
  'api.pages': { accepted: 'false', refused: 'no' },
  'api.metricsHost': { accepted: '127.0.0.1,::1', refused: '127.0.0.1,127.0.0.1' },
  'api.dereference': { accepted: 'url', refused: 'html' },
  'api.drain': { accepted: '5', refused: '-1' },
  'api.connections': { accepted: '65535', refused: '0' },
  'api.connectionsPerAddress': { accepted: '65535', refused: '0' },
  'api.wsConnections': { accepted: '1', refused: '0' },
  'api.batch': { accepted: '10', refused: '1e3' },
  'api.answerCache': { accepted: '0', refused: '-1' },
  'api.rateRequests': { accepted: '1', refused: '0' },
  'api.rateWindow': { accepted: '1000', refused: '99' },
  'api.rateSparesLoopback': { accepted: 'false', refused: 'no' },
  'network.peers': { accepted: '192.0.2.7:20338,/dns4/example.org/tcp/20338', refused: '192.0.2.7' },
  'network.follow': { accepted: 'http://192.0.2.7:20334', refused: '192.0.2.7' },
  'network.hosts': { accepted: '127.0.0.1,::1', refused: 'localhost' },
  'network.enabled': { accepted: 'false', refused: '0' },
  'network.mdns': { accepted: 'true', refused: 'yes' },
  'network.assumeValid': { accepted: `9:${'ab'.repeat(32)}`, refused: `0:${'ab'.repeat(32)}` },
  'network.outbound': { accepted: '0', refused: '65' },
  'network.inbound': { accepted: '1000', refused: '1001' },
  'network.inboundPerHost': { accepted: '1', refused: '0' },
  'voting.validatorKey': { accepted: './validator.key', refused: '' },
  'voting.validatorSigner': { accepted: './signer.sock', refused: '' },
  'witness.witness': {
    accepted: 'other.example/w2+f3d2c509+BBkZ9LaBUdOyKpTxLNIopBrcyWnbm7/3s8ekb34/cbXh,http://192.0.2.7:8091',
    refused: 'other.example/w2+f3d2c509+BBkZ9LaBUdOyKpTxLNIopBrcyWnbm7/3s8ekb34/cbXh',
  },
  'witness.witnessKey': { accepted: './witness.key', refused: '' },
  'devnet.blockTime': { accepted: '1', refused: '0' },
  'devnet.automine': { accepted: 'false', refused: '0' },
  'devnet.accounts': { accepted: '100', refused: '101' },
  'devnet.mnemonic': {
    accepted: 'legal winner thank year wave sausage worth useful legal winner thank yellow',
    refused: 'legal winner thank year wave sausage worth useful legal winner thank thank',
  },
  'devnet.balance': { accepted: '25000.5', refused: '-1' },
  'devnet.seedDids': { accepted: '100000', refused: '100001' },
  'devnet.state': { accepted: './devnet.state', refused: '' },
  'devnet.allowOrigin': { accepted: 'http://localhost:5173,https://app.example', refused: 'http://localhost:5173/' },
  'devnet.nodes': { accepted: '4', refused: '5' },
  'mining.payTo': { accepted: 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG', refused: 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uH' },
  'mempool.size': { accepted: '8000000', refused: '7999999' },
  'mempool.expiry': { accepted: '1000', refused: '1.5' },
  'resolver.cacheSize': { accepted: '4294967296', refused: '4294967297' },
  'resolver.staleAfter': { accepted: '0', refused: '-1' },
  'resolver.answerOutOfStep': { accepted: 'true', refused: 'perhaps' },
  'resolver.queriesWaiting': { accepted: '0', refused: '-1' },
  'resolver.queryDuration': { accepted: '100', refused: '99' },
  'resolver.queryDocuments': { accepted: '1', refused: '0' },
  'crypto.threads': { accepted: '16', refused: '17' },
  'gateway.shards': { accepted: 'postgres://a,b/db', refused: 'mysql://a/db' },
  'gateway.nodes': { accepted: 'http://192.0.2.7:20334', refused: '192.0.2.7:20334' },
  'gateway.rows': { accepted: '67108864', refused: '67108863' },
  'gateway.verifyOwn': { accepted: 'true', refused: 'yes' },
}

export function configOf(text: string | undefined, sources: Partial<ConfigSources> = {}): Config {
  const file = text === undefined ? {} : { file: { path: 'node.json5', text } }
  return readConfig({ command: 'devnet', env: {}, flags: new Map(), ...file, ...sources })
}

/** A command that has an option. */
export function commandOf({ commands }: Option): NodeCommand {
  return commands?.[0] ?? 'devnet'
}

/** The message of the refusal; it has to be a wrong call. */
export function refusalOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    const { message, exitCode, name } = error as Error & { exitCode?: number }
    if (exitCode !== 2) throw new Error(`${name} without exit code 2: ${message}`)
    return message
  }
  throw new Error('nothing was refused')
}
